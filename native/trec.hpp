// TREC text ranked as it is read, and rows of some queries picked out of it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ranker.hpp"
#include "report.hpp"
#include "team.hpp"

namespace idealist {

// What ranking a text came to; `found` is null where the report is not clean.
struct TextRanked {
    Report report;
    std::unique_ptr<Found> found;
    std::vector<std::string> unknown;  // queries of the run without judgments
};

// Called by the calling thread every now and then, to be interrupted.
using Pause = std::function<void()>;

// Opens the input, once more where it has to be read again.
using Open = std::function<std::unique_ptr<Input>()>;

// Rank a text. Where each query's rows stand together, memory for one query a thread is enough;
// where they do not, it is read again and its rows are kept until all are there.
TextRanked rank_text(const Open& open, Layout layout, const std::vector<Task>& tasks,
                     std::size_t threads, const Pause& pause);

// Rows of some queries, in the order they came.
struct Picked {
    Report report;
    std::vector<std::size_t> starts;  // of each query's rows, with the end appended
    std::vector<std::string> documents;
    std::vector<double> scores, ranks;
    std::vector<std::int64_t> lines;
};

Picked pick_rows(const Open& open, Layout layout, const Judged& queries, std::size_t threads,
                 const Pause& pause);

}  // namespace idealist
