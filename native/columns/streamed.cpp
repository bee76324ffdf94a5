#include "columns/streamed.hpp"

#include "base/declined.hpp"

namespace idealist {

namespace {

constexpr std::uint32_t no_query = Grouped::no_query;

// The last query of some rows, with the row it begins at and the number of rows.
struct Last {
    std::uint32_t query = no_query;
    std::size_t begin = 0, rows = 0;
};

// Note the queries of rows that are together; false if one of them was seen before.
bool see(const Grouped& grouped, std::vector<bool>& seen, Last& last) {
    bool together = true;
    grouped.each([&](std::size_t row, std::uint32_t query) {
        last.rows = row + 1;
        if (query == last.query) return;
        last.query = query;
        last.begin = row;
        if (query == no_query) return;
        together &= !seen[query];
        seen[query] = true;
    });
    return together;
}

// Drop the batches before a row; return how many rows of the first one left come before it.
std::size_t drop_before(ArrowTable& table, std::size_t row) {
    std::size_t batches = 0;
    while (batches < table.batches() && table.rows(batches) <= row) row -= table.rows(batches++);
    table.drop(batches);
    return row;
}

}  // namespace

bool rank_stream(ArrowTable& table, const Window& window, const std::vector<Task>& tasks,
                 Found& found, std::unordered_set<std::string>& unknown, std::size_t threads,
                 const std::function<void()>& check) {
    const Judged& judged = *tasks.front().judged;
    std::vector<bool> seen(judged.queries());
    std::size_t ranked = 0, least = 0;  // rows that are ranked; batches before the next attempt
    bool any = false;
    for (bool more = true; more;) {
        more = table.read_batch();
        if (more && (table.rows(table.batches() - 1) == 0 || table.batches() < least)) continue;
        if (table.batches() == 0) break;
        const Columns columns = window();
        if (columns.query.parts.empty()) continue;
        any = true;
        const Grouped grouped(columns, judged, threads, check, ranked);
        unknown.insert(grouped.unknown().begin(), grouped.unknown().end());
        Last last;
        if (!see(grouped, seen, last)) return false;
        grouped.rank(tasks, found, threads, check, more ? last.query : no_query);
        if (last.query != no_query) seen[last.query] = false;
        ranked = drop_before(table, last.query == no_query ? last.rows : last.begin);
        least = 2 * table.batches();
    }
    require(any);
    return true;
}

}  // namespace idealist
