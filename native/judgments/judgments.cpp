#include "judgments/judgments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/declined.hpp"

namespace idealist {

namespace {

constexpr double largest = 1e9;  // the same as in `data.judgments`

// A row to be sorted: the first bytes of its document, which mostly decide, and its number.
struct Key {
    std::uint64_t first;
    std::uint32_t row;
};

// The first eight bytes as a number that sorts as they do.
std::uint64_t first_bytes(string_view text) {
    std::uint64_t first = 0;
    for (std::size_t i = 0; i < 8; ++i)
        first = first << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0);
    return first;
}

}  // namespace

void JudgmentRows::add(string_view query, string_view document, double grade) {
    require(std::abs(grade) <= largest && rows_.size() < std::numeric_limits<std::uint32_t>::max());
    if (queries_.empty() || queries_[last_] != query) {
        const auto next = static_cast<std::uint32_t>(queries_.size());
        const auto [found, is_new] = numbers_.try_emplace(query, next);
        if (is_new) queries_.push_back(query);
        last_ = found->second;
    }
    rows_.push_back({document, grade, last_});
}

Judgments JudgmentRows::sorted() const {
    require(!rows_.empty());
    std::vector<std::uint32_t> names(queries_.size()), place(queries_.size());
    std::iota(names.begin(), names.end(), 0u);
    std::sort(names.begin(), names.end(),
              [&](std::uint32_t a, std::uint32_t b) { return queries_[a] < queries_[b]; });
    for (std::uint32_t i = 0; i < names.size(); ++i) place[names[i]] = i;
    std::vector<std::size_t> begins(queries_.size() + 1);
    for (const Row& row : rows_) ++begins[place[row.query] + 1];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    std::vector<Key> keys(rows_.size());
    std::vector<std::size_t> next(begins.begin(), begins.end() - 1);
    for (std::uint32_t i = 0; i < rows_.size(); ++i)
        keys[next[place[rows_[i].query]]++] = {first_bytes(rows_[i].document), i};
    const auto before = [&](const Key& a, const Key& b) {
        if (a.first != b.first) return a.first < b.first;
        const int compared = rows_[a.row].document.compare(rows_[b.row].document);
        return compared != 0 ? compared < 0 : a.row < b.row;
    };

    Judgments made;
    made.documents.reserve(rows_.size());
    made.grades.reserve(rows_.size());
    made.starts.reserve(names.size() + 1);
    made.starts.push_back(0);
    for (std::size_t query = 0; query < names.size(); ++query) {
        const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(begins[query]);
        const auto end = keys.begin() + static_cast<std::ptrdiff_t>(begins[query + 1]);
        if (!std::is_sorted(begin, end, before)) std::sort(begin, end, before);
        made.queries.push_back(queries_[names[query]]);
        for (auto key = begin; key != end; ++key) {
            const Row& row = rows_[key->row];
            if (key != begin && row.document == made.documents.back()) {
                require(row.grade == made.grades.back());
                ++made.repeats;
                continue;
            }
            made.documents.push_back(row.document);
            made.grades.push_back(row.grade);
        }
        made.starts.push_back(static_cast<std::int64_t>(made.documents.size()));
    }
    return made;
}

}  // namespace idealist
