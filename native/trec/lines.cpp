#include "trec/lines.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "text/number.hpp"
#include "text/scan.hpp"

namespace idealist {

namespace {

const char* skip_blanks(const char* p) {
    while (*p == ' ' || (is_blank(*p) && *p != '\n')) ++p;
    return p;
}

const char* skip_word(const char* p) {
    while (static_cast<unsigned char>(*p) > ' ' || !is_blank(*p)) ++p;
    return p;
}

const char* line_end(const char* p, const char* end) {
    return static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
}

// The next cell of a line, empty if there is none.
string_view cell(const char*& p) {
    const char* begin = skip_blanks(p);
    p = skip_word(begin);
    return {begin, static_cast<std::size_t>(p - begin)};
}

bool all_digits(string_view cell) {
    return !cell.empty() && std::all_of(cell.begin(), cell.end(), is_digit);
}

constexpr auto powers = [] {
    std::array<std::uint64_t, 17> made{1};
    for (std::size_t i = 1; i < made.size(); ++i) made[i] = made[i - 1] * 10;
    return made;
}();

// The number that the last digits before `end` make, up to eight of them; sets `odd` if one of
// these bytes is not a digit.
inline std::uint64_t last_digits(const char* end, std::ptrdiff_t count, std::uint64_t& odd) {
    constexpr std::uint64_t ones = 0x0101010101010101, pair = 0x000000ff000000ff;
    const int others = static_cast<int>(8 * (8 - count));
    const std::uint64_t digits = (load<std::uint64_t>(end - 8) ^ 0x30 * ones) >> others << others;
    odd |= (digits | (digits + 0x76 * ones)) & 0x80 * ones;
    const std::uint64_t pairs = digits * 10 + (digits >> 8);
    const std::uint64_t all =
        ((pairs & pair) * 0x000f424000000064 + (pairs >> 16 & pair) * 0x0000271000000001) >> 32;
    return all & 0xffffffff;
}

// A score such as 15.990591 or 15.999999928655586, whose digits and power of ten are exact, so that
// a single division rounds once; nullopt for any other. The cells before it guarantee that eight
// bytes back from its end can be read.
std::optional<double> simple_score(string_view cell) {
    if constexpr (std::endian::native != std::endian::little || FLT_EVAL_METHOD != 0) return {};
    const char *p = cell.data(), *end = p + cell.size();
    const bool negative = p < end && *p == '-';
    p += negative;
    const char* begin = p;
    std::uint64_t whole = 0;
    for (; p < end && is_digit(*p); ++p) whole = whole * 10 + static_cast<std::uint64_t>(*p - '0');
    const auto places = end - p - 1, before = p - begin;
    if (p == end || *p != '.' || before < 1 || before > 7 || places < 1 || places > 16) return {};
    std::uint64_t odd = 0, fraction = last_digits(end, std::min<std::ptrdiff_t>(places, 8), odd);
    if (places > 8) {
        if (!divides || before > 3) return {};
        fraction += last_digits(end - 8, places - 8, odd) * powers[8];
    }
    if (odd) return {};
    const std::uint64_t all = whole * powers[static_cast<std::size_t>(places)] + fraction;
    const double value = places > 8
                             ? divided(all, static_cast<int>(places))
                             : static_cast<double>(all) /
                                   static_cast<double>(powers[static_cast<std::size_t>(places)]);
    return negative ? -value : value;
}

// Read a line whose cells are separated by a single space or tab, as tools write them; false for
// any other line, faulty ones included.
bool read_plain_line(const char*& p, const char* end, Line& line) {
    std::uint64_t mask = blanks(p);
    std::array<int, 5> ends;
    for (int& at : ends) {
        at = std::countr_zero(mask);  // 64 if there is none
        mask &= mask - 1;
    }
    const auto [query, iteration, document, rank, score] = ends;
    if (score >= static_cast<int>(scanned) - 1 || *p == '#' || query == 0) return false;
    for (std::size_t i = 0; i < ends.size(); ++i)
        if ((p[ends[i]] != ' ' && p[ends[i]] != '\t') || (i > 0 && ends[i] == ends[i - 1] + 1))
            return false;
    if (static_cast<unsigned char>(p[score + 1]) <= ' ') return false;
    const auto cell = [&](int from, int to) {
        return string_view(p + from, static_cast<std::size_t>(to - from));
    };
    line.query = cell(0, query);
    line.document = cell(iteration + 1, document);
    line.rank = cell(document + 1, rank);
    const string_view given = cell(rank + 1, score);
    auto number = simple_score(given);
    if (!number) number = number_of(given);
    if (!number) return false;
    line.score = *number;
    const char* next = mask ? p + std::countr_zero(mask) : p + score;
    p = (*next == '\n' ? next : line_end(p + score, end)) + 1;
    return true;
}

}  // namespace

double rank_of(const Line& line) {
    return number_of(line.rank).value_or(std::numeric_limits<double>::quiet_NaN());
}

Kind read_line(const char*& p, const char* end, Layout layout, Line& line) {
    if (layout == Layout::trec && read_plain_line(p, end, line)) return Kind::row;
    line.query = cell(p);
    Kind kind = Kind::nothing;
    if (!line.query.empty() && line.query[0] != '#') {
        if (layout == Layout::trec) cell(p);
        line.document = cell(p);
        line.rank = cell(p);
        if (layout == Layout::trec) {
            const auto score = number_of(cell(p));
            line.score = score.value_or(0);
            kind = score && !cell(p).empty() ? Kind::row : Kind::fault;
        } else {
            kind = all_digits(line.rank) && cell(p).empty() ? Kind::row : Kind::fault;
        }
    }
    p = (*p == '\n' ? p : line_end(p, end)) + 1;
    return kind;
}

string_view query_of(const char* line) {
    const string_view query = cell(line);
    return query.empty() || query[0] == '#' ? string_view() : query;
}

}  // namespace idealist
