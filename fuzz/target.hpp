// What the fuzz targets share: choices taken from an input, protocols and judgments.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ranking/ranker.hpp"

#define CHECK(truth)                                                             \
    do {                                                                         \
        if (!(truth)) {                                                          \
            std::fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #truth); \
            std::abort();                                                        \
        }                                                                        \
    } while (false)

namespace idealist {

// Takes choices from the first bytes of an input, and leaves the rest.
class Choices {
  public:
    explicit Choices(string_view& data) : data_(data) {}

    std::size_t below(std::size_t limit) {
        if (data_.empty()) return 0;
        const auto byte = static_cast<unsigned char>(data_[0]);
        data_.remove_prefix(1);
        return byte % limit;
    }

    string_view bytes(std::size_t most) {
        const string_view taken = data_.substr(0, most);
        data_.remove_prefix(taken.size());
        return taken;
    }

  private:
    string_view& data_;
};

inline Protocol some_protocol(Choices& choices) {
    Protocol made;
    made.single = choices.below(2);
    made.order = static_cast<Protocol::Order>(choices.below(3));
    made.ties = static_cast<Protocol::Ties>(choices.below(5));
    made.refuse_ties = choices.below(4) == 0;
    made.seed = "7";
    made.duplicates = static_cast<Protocol::Duplicates>(choices.below(3));
    made.nonfinite = static_cast<Protocol::Nonfinite>(choices.below(3));
    made.budget = static_cast<double>(choices.below(6)) - 2;
    made.exclude_self = choices.below(2);
    made.named = choices.below(4);
    if (choices.below(2))
        made.whole = [](const std::vector<string_view>& chunks, Arena& arena,
                        std::vector<string_view>& documents) {
            for (const string_view chunk : chunks)
                documents.push_back(arena.copy(chunk.substr(0, chunk.find('#'))));
        };
    return made;
}

inline const std::vector<string_view> judged_queries = {"q1", "q2", "é", "7", "none"};

inline const Judged& judged() {
    static const std::vector<string_view> documents = {"a", "b", "x",  "x#1", "q1",
                                                       "é", "a", "d1", "12"};
    static const std::vector<std::int64_t> starts = {0, 5, 7, 8, 9, 9};
    static const Judged made(judged_queries, starts, documents);
    return made;
}

using Facts = std::vector<std::uint64_t>;

// Everything that was ranked, as numbers.
inline Facts facts_of(const Found& found) {
    Facts all;
    const auto add = [&](auto number) { all.push_back(static_cast<std::uint64_t>(number)); };
    for (std::size_t task = 0; task < found.listed.size(); ++task)
        for (const Listed& one : found.listed[task]) {
            for (const auto count : {one.retrieved, one.duplicates, one.merged, one.faults})
                add(count);
            for (const bool flag : {one.in_run, one.ties, one.float32}) add(flag);
            for (std::size_t i = one.begin; i < one.begin + one.places; ++i) {
                const Place& place = found.places[one.worker][task][i];
                for (const auto number : {place.rank, place.first, place.last, place.judgment})
                    add(number);
                add(std::bit_cast<std::uint64_t>(place.score));
            }
            const Unjudged& ids = found.names[one.worker][task];
            for (std::size_t i = one.names_begin; i < one.names_begin + one.names; ++i) {
                const std::size_t begin = i ? ids.ends[i - 1] : 0;
                add(hash_of(string_view(ids.text).substr(begin, ids.ends[i] - begin)));
            }
        }
    return all;
}

}  // namespace idealist
