#include "run_text/report.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/declined.hpp"
#include "text/utf8.hpp"

namespace idealist {

namespace {

std::size_t line_at(const Block& block, const char* p) {
    return static_cast<std::size_t>(std::count(block.begin(), p, '\n')) + 1;
}

void note(Report& report, TextFault kind, const Block& block, const char* p) {
    TextFound& found = report.text[kind];
    const Position position{block.number, line_at(block, p)};
    if (position < found.position) found = {position, static_cast<unsigned char>(*p)};
}

// Look for NUL, and for a CR that does not end a line.
void check_controls(const Block& block, Report& report) {
    const char* end = block.end();
    if (const void* found = std::memchr(block.begin(), 0, block.size))
        note(report, nul, block, static_cast<const char*>(found));
    for (const char* p = block.begin(); p < end; ++p) {
        p = static_cast<const char*>(std::memchr(p, '\r', static_cast<std::size_t>(end - p)));
        if (!p) return;
        if (p[1] != '\n') return note(report, carriage_return, block, p);
    }
}

}  // namespace

bool Report::is_clean() const {
    const auto fine = [](const TextFound& found) { return found.position == Position{}; };
    return total_faults == 0 && std::all_of(text.begin(), text.end(), fine);
}

void Report::add(const Report& other) {
    lines.insert(lines.end(), other.lines.begin(), other.lines.end());
    faults.insert(faults.end(), other.faults.begin(), other.faults.end());
    std::sort(faults.begin(), faults.end(),
              [](const LineFault& a, const LineFault& b) { return a.position < b.position; });
    if (faults.size() > shown_faults) faults.resize(shown_faults);
    total_faults += other.total_faults;
    rows += other.rows;
    least_rank = std::min(least_rank, other.least_rank);
    empty |= other.empty;
    for (const std::string& query : other.lists) require(lists.insert(query).second);
    for (std::size_t kind = 0; kind < text.size(); ++kind)
        if (other.text[kind].position < text[kind].position) text[kind] = other.text[kind];
}

std::vector<std::size_t> Report::lines_before() const {
    std::vector<std::size_t> before(1);
    for (const auto& [block, count] : lines) {
        before.resize(std::max(before.size(), block + 2));
        before[block + 1] = count;
    }
    std::partial_sum(before.begin(), before.end(), before.begin());
    return before;
}

std::size_t Report::line(const Position& at) const {
    return lines_before()[at.block] + at.line;
}

void check_text(const Block& block, Report& report) {
    const char *begin = block.begin(), *end = block.end();
    char high = 0, odd = 0;  // one pass, which finds nothing in most files
    for (std::size_t i = 0; i < block.size; ++i) {
        high |= begin[i];
        odd |= static_cast<char>(begin[i] == 0) | static_cast<char>(begin[i] == '\r');
    }
    if (odd) check_controls(block, report);
    if (high >= 0) return;
    if (const char* bad = bad_utf8(begin, end)) note(report, utf8, block, bad);
}

}  // namespace idealist
