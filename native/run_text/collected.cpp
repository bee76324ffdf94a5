#include "run_text/collected.hpp"

#include <algorithm>
#include <numeric>

namespace idealist {

void Collected::add(Chunk& chunk, std::size_t query, std::size_t number, const Row& row) {
    chunk.text.insert(chunk.text.end(), row.document.begin(), row.document.end());
    chunk.begin.push_back(static_cast<std::uint32_t>(chunk.text.size()));
    chunk.query.push_back(static_cast<std::uint32_t>(query));
    for (std::size_t i = 0; i < kept_.size(); ++i)
        if (kept_[i]) chunk.numbers[i].push_back(row.numbers[i]);
    if (lines_) chunk.line.push_back(static_cast<std::uint32_t>(number));
}

void Collected::group(std::size_t queries) {
    std::sort(chunks_.begin(), chunks_.end(),
              [](const Chunk& a, const Chunk& b) { return a.block < b.block; });
    starts_.assign(queries + 1, 0);
    for (const Chunk& chunk : chunks_)
        for (const std::uint32_t query : chunk.query) ++starts_[query + 1];
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    order_.resize(starts_.back());
    std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
    for (std::uint32_t i = 0; i < chunks_.size(); ++i)
        for (std::uint32_t row = 0; row < chunks_[i].query.size(); ++row)
            order_[next[chunks_[i].query[row]]++] = {i, row};
}

}  // namespace idealist
