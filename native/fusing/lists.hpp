// Lists: the ranked documents of each query of a run, and what several runs found together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/bytes.hpp"

namespace idealist {

// The documents of query q are numbers starts[q] to starts[q + 1]; the id of number i is the text
// from ends[i] to ends[i + 1].
struct Lists {
    const std::int64_t* starts;
    const std::int64_t* ends;
    const char* text;
    const double* scores;

    string_view id(std::int64_t i) const {
        return {text + ends[i], static_cast<std::size_t>(ends[i + 1] - ends[i])};
    }
};

// What several runs found for some queries. The documents of each query are numbered in the order
// in which they are first met, run by run; the lists stand one after the other, by query and run,
// and hold the number and the score of each document.
struct Merged {
    std::vector<std::int64_t> starts, ends;  // of documents, as in Lists
    std::string text;
    std::vector<std::int64_t> lists;  // where each list begins, followed by the end
    std::vector<std::int64_t> documents;
    std::vector<double> scores;
};

Merged merge(const std::vector<Lists>& runs, std::size_t first, std::size_t last);

// Lines of TREC text, one for each document; scores are written as Python writes them. Ids that
// are not one word are declined.
std::string trec_lines(const std::vector<string_view>& queries, const Lists& lists,
                       string_view tag);

}  // namespace idealist
