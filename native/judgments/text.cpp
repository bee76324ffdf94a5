// TREC's qrels.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/declined.hpp"
#include "base/sizes.hpp"
#include "judgments/judgments.hpp"
#include "text/number.hpp"
#include "text/utf8.hpp"

namespace idealist {

namespace {

// The next cell of a line, empty if there is none.
string_view cell(const char*& p, const char* end) {
    while (p < end && is_blank(*p)) ++p;
    const char* begin = p;
    while (p < end && !is_blank(*p)) ++p;
    return {begin, static_cast<std::size_t>(p - begin)};
}

double grade_of(string_view cell) {
    if (cell.size() == 1 && is_digit(cell[0])) return cell[0] - '0';
    const auto number = number_of(cell);
    require(number && std::isfinite(*number));
    return *number;
}

bool is_ascii(string_view text) {
    char high = 0;
    for (const char c : text) high |= c;
    return high >= 0;
}

}  // namespace

Judgments read_qrels(string_view text) {
    const char *p = text.data(), *const end = p + text.size();
    require(is_ascii(text) || !bad_utf8(p, end));
    JudgmentRows rows;
    rows.reserve(static_cast<std::size_t>(std::count(p, end, '\n')) + 1);
    string_view usual;
    while (p < end) {
        const void* found = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
        const char* const stop = found ? static_cast<const char*>(found) : end;
        require(static_cast<std::size_t>(stop - p) <= longest_line);
        const string_view query = cell(p, stop);
        if (!query.empty() && query[0] != '#') {
            const string_view iteration = cell(p, stop), document = cell(p, stop),
                              grade = cell(p, stop);
            require(!grade.empty() && cell(p, stop).empty());
            if (usual.empty()) usual = iteration;
            require(iteration == usual && (usual == "0" || usual == "Q0"));
            rows.add(query, document, grade_of(grade));
        }
        p = stop + 1;
    }
    return rows.sorted();
}

}  // namespace idealist
