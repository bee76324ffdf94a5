// Ranked text: a run in text, ranked as it is read, or the rows of some queries picked from it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "judgments/judgments.hpp"
#include "ranking/ranker.hpp"
#include "run_text/report.hpp"

namespace idealist {

// The result of ranking a text; `found` is null if the report is not clean.
struct TextRanked {
    Report report;
    std::unique_ptr<Found> found;
    std::vector<std::string> unknown;  // queries in the run that have no judgments
};

// Called now and then in the calling thread, so that work can be interrupted.
using Pause = std::function<void()>;

// Opens the input; called again if it has to be read a second time.
using Open = std::function<std::unique_ptr<Input>()>;

// Rank a text. If each query's rows are together, each thread needs memory for one query only; if
// not, the text is read again, and rows are kept until all of them are there.
TextRanked rank_text(const Open& open, const Layout& layout, const std::vector<Task>& tasks,
                     std::size_t threads, const Pause& pause);

// The rows of some queries, in the order they came.
struct Picked {
    Report report;
    std::vector<std::size_t> starts;  // of each query's rows, followed by the end
    std::vector<std::string> documents;
    ByNumber<std::vector<double>> numbers;
    std::vector<std::int64_t> lines;
};

Picked pick_rows(const Open& open, const Layout& layout, const Judged& queries, std::size_t threads,
                 const Pause& pause);

// Read judgments, which are rows with their grade as the score; the ids are copied into the arena.
Judgments read_judgments(const Open& open, const Layout& layout, Arena& ids, const Pause& pause);

}  // namespace idealist
