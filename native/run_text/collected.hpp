// Collected: the rows of a text whose queries are apart, kept until all of them are there.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ranking/judged.hpp"
#include "run_text/report.hpp"

namespace idealist {

// The rows of one block, with their documents end to end in `text`.
struct Chunk {
    std::size_t block = 0;
    std::vector<char> text;
    std::vector<std::uint32_t> query, begin, line;
    ByNumber<std::vector<double>> numbers;

    string_view document(std::size_t row) const {
        return {text.data() + begin[row], begin[row + 1] - begin[row]};
    }

    ByNumber<double> numbers_of(std::size_t row) const {
        ByNumber<double> found{};
        for (std::size_t i = 0; i < found.size(); ++i)
            if (!numbers[i].empty()) found[i] = numbers[i][row];
        return found;
    }
};

class Collected {
  public:
    // Keep these numbers, and the lines if these are wanted.
    Collected(const Layout& layout, const ByNumber<bool>& kept, bool lines)
        : layout_(layout), kept_(kept), lines_(lines) {}

    const Layout& layout() const { return layout_; }
    const ByNumber<bool>& kept() const { return kept_; }

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
    void add(Chunk& chunk, std::size_t query, std::size_t number, const Row& row);

    const Layout& layout_;
    ByNumber<bool> kept_;
    bool lines_;
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
    std::string last;
    std::int64_t query = Judged::none;
    Arena arena;
    read_block(block, layout_, kept_[rank_of_row], arena, report,
               [&](std::size_t number, const Row& row) {
                   if (row.query != last) {
                       last = row.query;
                       query = queries.find_query(last);
                   }
                   if (query == Judged::none)
                       unknown(last);
                   else if (!row.document.empty())
                       add(chunk, static_cast<std::size_t>(query), number, row);
               });
    chunk.text.shrink_to_fit();
    const std::lock_guard lock(mutex_);
    chunks_.push_back(std::move(chunk));
}

}  // namespace idealist
