// TREC text with each query's rows together: a query is ranked as soon as its last row is read.
#include <atomic>

#include "trec/ranked_text.hpp"
#include "trec/reading.hpp"

namespace idealist {

namespace {

// What is shared by the threads that rank queries as they are read.
struct Shared {
    Shared(Layout layout, const std::vector<Task>& tasks, Reading& reading, Found& found)
        : layout(layout),
          tasks(tasks),
          ranks(needs_ranks(layout, tasks)),
          reading(reading),
          found(found),
          seen(tasks.front().judged->queries()) {}

    const Judged& judged() const { return *tasks.front().judged; }

    Layout layout;
    const std::vector<Task>& tasks;
    bool ranks;
    Reading& reading;
    Found& found;
    std::vector<std::atomic<bool>> seen;
    std::atomic<bool> apart = false;
    Names unknown;
};

// One thread, which ranks each query as soon as its last row is read.
class Grouping {
  public:
    Grouping(Shared& shared, std::size_t worker)
        : shared_(shared), ranker_(shared.tasks, shared.found, worker) {}

    void operator()(const Block& block, Report& report) {
        read_block(block, shared_.layout, report,
                   [&](std::size_t, const Line& line) { add(line); });
        finish();
        const std::lock_guard lock(shared_.reading.mutex());
        shared_.unknown.merge(noted_.names);
        noted_ = Noted();
    }

  private:
    void add(const Line& line) {
        if (group_.documents.empty() || !same_word(line.query, group_.query)) {
            finish();
            group_.query = line.query;
        }
        group_.documents.push_back(line.document);
        if (shared_.layout == Layout::trec) group_.scores.push_back(line.score);
        if (shared_.ranks) group_.ranks.push_back(rank_of(line));
    }

    void finish() {
        if (group_.documents.empty()) return;
        const auto query = shared_.judged().find_query(group_.query);
        if (query == Judged::none) {
            noted_(group_.query);
        } else if (shared_.seen[static_cast<std::size_t>(query)].exchange(true)) {
            shared_.apart = true;
            shared_.reading.stop();
        } else {
            ranker_.place(static_cast<std::size_t>(query), group_.rows());
        }
        group_.clear();
    }

    Shared& shared_;
    Ranker ranker_;
    Group group_;
    Noted noted_;
};

// Rank queries as they are read; false if the rows of one are apart.
bool rank_grouped(const Open& open, Layout layout, const std::vector<Task>& tasks,
                  std::size_t threads, const Pause& pause, TextRanked& result) {
    Reading reading(open, true, threads, pause);
    Shared shared(layout, tasks, reading, *result.found);
    reading.run([&](std::size_t worker) { return Grouping(shared, worker); });
    result.report = reading.finished();
    result.unknown.assign(shared.unknown.begin(), shared.unknown.end());
    return !shared.apart;
}

}  // namespace

TextRanked rank_text(const Open& open, Layout layout, const std::vector<Task>& tasks,
                     std::size_t threads, const Pause& pause) {
    TextRanked result;
    const auto fresh = [&] {
        return std::make_unique<Found>(tasks.size(), tasks.front().judged->queries(), threads);
    };
    result.found = fresh();
    if (!rank_grouped(open, layout, tasks, threads, pause, result)) {
        result.found = fresh();
        rank_apart(open, layout, tasks, threads, pause, result);
    }
    if (!result.report.is_clean()) result.found.reset();
    return result;
}

}  // namespace idealist
