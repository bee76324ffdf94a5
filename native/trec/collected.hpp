// Collected: the rows of a text whose queries are apart, kept until all of them are there.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "ranking/judged.hpp"
#include "trec/report.hpp"

namespace idealist {

// The rows of one block, with their documents end to end in `text`.
struct Chunk {
    std::size_t block = 0;
    std::vector<char> text;
    std::vector<std::uint32_t> query, begin, line;
    std::vector<double> scores, ranks;

    string_view document(std::size_t row) const {
        return {text.data() + begin[row], begin[row + 1] - begin[row]};
    }
};

class Collected {
  public:
    // `ranks` and `lines` say whether to keep these, too.
    Collected(Layout layout, bool ranks, bool lines)
        : layout_(layout), ranks_(ranks), lines_(lines) {}

    // Keep the rows of a block whose queries are known; names of other queries go to `unknown`.
    template <typename Unknown>
    void read(const Block& block, const Judged& queries, Report& report, Unknown& unknown);

    // Group the rows by query; nothing can be read after that.
    void group(std::size_t queries);

    // Where the rows of a query begin and end once they are grouped.
    std::size_t begin(std::size_t query) const { return starts_[query]; }
    std::size_t end(std::size_t query) const { return starts_[query + 1]; }

    struct At {
        std::uint32_t chunk, row;
    };
    const Chunk& chunk(std::size_t i) const { return chunks_[order_[i].chunk]; }
    std::size_t row(std::size_t i) const { return order_[i].row; }

  private:
    void add(Chunk& chunk, std::size_t query, std::size_t number, const Line& line);

    Layout layout_;
    bool ranks_, lines_;
    std::mutex mutex_;
    std::vector<Chunk> chunks_;
    std::vector<std::size_t> starts_;
    std::vector<At> order_;
};

template <typename Unknown>
void Collected::read(const Block& block, const Judged& queries, Report& report, Unknown& unknown) {
    Chunk chunk;
    chunk.block = block.number;
    chunk.begin.push_back(0);
    string_view last;
    std::int64_t query = Judged::none;
    read_block(block, layout_, report, [&](std::size_t number, const Line& line) {
        if (last.empty() || line.query != last) {
            last = line.query;
            query = queries.find_query(last);
        }
        if (query == Judged::none)
            unknown(last);
        else
            add(chunk, static_cast<std::size_t>(query), number, line);
    });
    chunk.text.shrink_to_fit();
    const std::lock_guard lock(mutex_);
    chunks_.push_back(std::move(chunk));
}

}  // namespace idealist
