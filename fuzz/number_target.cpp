// Fuzz target: numbers in text are read as strtod reads them, if Python's float accepts them.
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "run_text/blocks.hpp"
#include "run_text/lines.hpp"
#include "text/number.hpp"

using namespace idealist;

namespace {

std::size_t digits(const std::string& cell, std::size_t& at) {
    const std::size_t begin = at;
    while (at < cell.size() && is_digit(cell[at])) ++at;
    return at - begin;
}

bool is_word(std::string cell) {
    for (char& c : cell) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    return cell == "inf" || cell == "infinity" || cell == "nan";
}

// Whether a cell is a decimal number, or one of the words for infinity and NaN.
bool is_number(const std::string& cell) {
    std::size_t at = cell.starts_with('-') || cell.starts_with('+');
    if (is_word(cell.substr(at))) return true;
    std::size_t count = digits(cell, at);
    if (at < cell.size() && cell[at] == '.') count += digits(cell, ++at);
    if (count == 0) return false;
    if (at < cell.size() && (cell[at] | 0x20) == 'e') {
        ++at;
        if (at < cell.size() && (cell[at] == '-' || cell[at] == '+')) ++at;
        if (digits(cell, at) == 0) return false;
    }
    return at == cell.size();
}

bool same(double a, double b) {
    return (a != a && b != b) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// Read it as the score on a line, in memory that ends where a block may end.
std::optional<double> score_of(const std::string& cell) {
    const std::string line = "q Q0 d 1 " + cell + " t\n";
    const auto text = std::make_unique<char[]>(line.size() + padding);
    line.copy(text.get(), line.size());
    Line read;
    const char* p = text.get();
    const Kind kind = read_line(p, p + line.size(), Layout::Kind::trec, read);
    return kind == Kind::row ? std::optional(read.score) : std::nullopt;
}

void check(const std::string& cell, std::optional<double> expected, std::optional<double> found) {
    if (expected.has_value() == found.has_value() && (!found || same(*expected, *found))) return;
    std::fprintf(stderr, "%s: %.17g expected, %.17g found\n", cell.c_str(), expected.value_or(NAN),
                 found.value_or(NAN));
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string cell(reinterpret_cast<const char*>(data), size);
    std::optional<double> expected;
    if (is_number(cell)) expected = std::strtod(cell.c_str(), nullptr);
    check(cell, expected, number_of(cell));
    bool blank = cell.empty();
    for (const char c : cell) blank |= is_blank(c);
    if (!blank) check(cell, expected, score_of(cell));
    return 0;
}
