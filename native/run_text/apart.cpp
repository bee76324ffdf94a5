// Text with queries' rows apart, and rows picked from a text: everything is read first.
#include <atomic>

#include "run_text/collected.hpp"
#include "run_text/reading.hpp"

namespace idealist {

namespace {

// Read all rows of these queries; return the names of the others.
Names collect(const Open& open, const Judged& queries, Collected& collected, std::size_t threads,
              const Pause& pause, Report& report) {
    Reading reading(open, collected.layout(), false, threads, pause);
    Names unknown;
    reading.run([&](std::size_t) {
        return [&](const Block& block, Report& mine) {
            Noted noted;
            collected.read(block, queries, mine, noted);
            const std::lock_guard lock(reading.mutex());
            unknown.merge(noted.names);
        };
    });
    report = reading.finished();
    collected.group(queries.queries());
    return unknown;
}

// Rank one of the collected queries.
void rank_collected(const Collected& collected, std::size_t query, Group& group, Ranker& ranker) {
    group.clear();
    for (std::size_t i = collected.begin(query); i < collected.end(query); ++i) {
        const Chunk& chunk = collected.chunk(i);
        group.add(chunk.document(collected.row(i)), chunk.numbers_of(collected.row(i)));
    }
    if (!group.documents.empty()) ranker.place(query, group.rows());
}

}  // namespace

void rank_apart(const Open& open, const Layout& layout, const std::vector<Task>& tasks,
                std::size_t threads, const Pause& pause, TextRanked& result) {
    const Judged& judged = *tasks.front().judged;
    Collected collected(layout, needed(layout, tasks), false);
    const Names unknown = collect(open, judged, collected, threads, pause, result.report);
    result.unknown.assign(unknown.begin(), unknown.end());
    if (!result.report.is_clean()) return;
    std::atomic<std::size_t> next = 0;
    Team team(threads);
    team.run([&](std::size_t worker) {
        Ranker ranker(tasks, *result.found, worker);
        Group group(collected.kept());
        for (std::size_t query; !team.stopped() && (query = next++) < judged.queries();) {
            rank_collected(collected, query, group, ranker);
            if (worker == 0) pause();
        }
    });
}

Picked pick_rows(const Open& open, const Layout& layout, const Judged& queries, std::size_t threads,
                 const Pause& pause) {
    Picked picked;
    Collected collected(layout, layout.numbers(), true);
    collect(open, queries, collected, threads, pause, picked.report);
    const auto before = picked.report.lines_before();
    picked.starts.push_back(0);
    for (std::size_t query = 0; query < queries.queries(); ++query) {
        for (std::size_t i = collected.begin(query); i < collected.end(query); ++i) {
            const Chunk& chunk = collected.chunk(i);
            const std::size_t row = collected.row(i);
            picked.documents.emplace_back(chunk.document(row));
            for (std::size_t kind = 0; kind < picked.numbers.size(); ++kind)
                if (collected.kept()[kind])
                    picked.numbers[kind].push_back(chunk.numbers[kind][row]);
            picked.lines.push_back(
                static_cast<std::int64_t>(before[chunk.block] + chunk.line[row]));
        }
        picked.starts.push_back(picked.documents.size());
    }
    return picked;
}

}  // namespace idealist
