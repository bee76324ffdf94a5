// Text with each query's rows together: a query is ranked as soon as its last row is read.
#include <atomic>

#include "run_text/ranked_text.hpp"
#include "run_text/reading.hpp"

namespace idealist {

namespace {

// What is shared by the threads that rank queries as they are read.
struct Shared {
    Shared(const Layout& layout, const std::vector<Task>& tasks, Reading& reading, Found& found)
        : layout(layout),
          tasks(tasks),
          kept(needed(layout, tasks)),
          reading(reading),
          found(found),
          seen(tasks.front().judged->queries()) {}

    const Judged& judged() const { return *tasks.front().judged; }

    const Layout& layout;
    const std::vector<Task>& tasks;
    ByNumber<bool> kept;
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
        : shared_(shared), ranker_(shared.tasks, shared.found, worker), group_(shared.kept) {}

    void operator()(const Block& block, Report& report) {
        arena_.clear();
        read_block(block, shared_.layout, shared_.kept[rank_of_row], arena_, report,
                   [&](std::size_t, const Row& row) { add(row); });
        finish();
        const std::lock_guard lock(shared_.reading.mutex());
        shared_.unknown.merge(noted_.names);
        noted_ = Noted();
    }

  private:
    void add(const Row& row) {
        if (!same_word(row.query, query_)) {
            finish();
            query_ = row.query;
        }
        if (!row.document.empty()) group_.add(row.document, row.numbers);
    }

    void finish() {
        if (query_.empty()) return;
        const auto query = shared_.judged().find_query(query_);
        if (query == Judged::none) {
            noted_(query_);
        } else if (shared_.seen[static_cast<std::size_t>(query)].exchange(true)) {
            shared_.apart = true;
            shared_.reading.stop();
        } else {
            ranker_.place(static_cast<std::size_t>(query), group_.rows());
        }
        group_.clear();
        query_ = {};
    }

    Shared& shared_;
    Ranker ranker_;
    string_view query_;  // of the group, empty if there is none
    Group group_;
    Arena arena_;
    Noted noted_;
};

// Rank queries as they are read; false if the rows of one are apart.
bool rank_grouped(const Open& open, const Layout& layout, const std::vector<Task>& tasks,
                  std::size_t threads, const Pause& pause, TextRanked& result) {
    Reading reading(open, layout, true, threads, pause);
    Shared shared(layout, tasks, reading, *result.found);
    reading.run([&](std::size_t worker) { return Grouping(shared, worker); });
    result.report = reading.finished();
    result.unknown.assign(shared.unknown.begin(), shared.unknown.end());
    return !shared.apart;
}

}  // namespace

TextRanked rank_text(const Open& open, const Layout& layout, const std::vector<Task>& tasks,
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
