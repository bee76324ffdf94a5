#include "text/number.hpp"

#include <cfloat>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>

#if !defined(__cpp_lib_to_chars)
#include <xlocale.h>

#include <cstdlib>
#endif

namespace idealist {

namespace {

constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int largest_power = 22;                        // the last exact one
constexpr std::uint64_t exact = std::uint64_t{1} << 53;  // whole numbers are exact up to here
constexpr std::int64_t far = 1'000'000'000'000;       // more than the digits on a line can offset
constexpr bool plain_doubles = FLT_EVAL_METHOD == 0;  // false on the x87

bool is_word(string_view cell, string_view word) {
    if (cell.size() != word.size()) return false;
    for (std::size_t i = 0; i < cell.size(); ++i)
        if ((cell[i] | 0x20) != word[i]) return false;
    return true;
}

std::optional<double> word_of(string_view cell) {
    if (is_word(cell, "inf") || is_word(cell, "infinity"))
        return std::numeric_limits<double>::infinity();
    if (is_word(cell, "nan")) return std::numeric_limits<double>::quiet_NaN();
    return std::nullopt;
}

// A decimal number taken apart: digits x 10^exponent, if all digits fit.
struct Decimal {
    std::uint64_t digits = 0;
    int significant = 0;
    std::int64_t exponent = 0;
    bool any = false, more = false;  // there are digits; there are more than fit

    void add(char c, bool fraction) {
        any = true;
        if (significant < 19) {
            digits = digits * 10 + static_cast<std::uint64_t>(c - '0');
            significant += digits != 0;
            exponent -= fraction;
        } else {
            more = true;
            exponent += !fraction;
        }
    }
};

// Read e10, E-5 and the like; false if no digit follows.
bool read_exponent(const char*& p, const char* end, std::int64_t& exponent) {
    ++p;
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) ++p;
    if (p == end || !is_digit(*p)) return false;
    std::int64_t value = 0;
    for (; p < end && is_digit(*p); ++p)
        if (value < far) value = value * 10 + (*p - '0');
    exponent += negative ? -value : value;
    return true;
}

// Round a well-formed number for which the exact shortcut is not enough.
double rounded(string_view number, const Decimal& decimal) {
#if defined(__cpp_lib_to_chars)
    double value = 0;
    const auto [_, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc::result_out_of_range) return value;
    return decimal.exponent + decimal.significant > 0 ? std::numeric_limits<double>::infinity() : 0;
#else
    static_cast<void>(decimal);
    return strtod_l(std::string(number).c_str(), nullptr, nullptr);  // null: the C locale
#endif
}

}  // namespace

std::optional<double> number_of(string_view cell) {
    const char *p = cell.data(), *end = p + cell.size();
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) ++p;
    const char* unsigned_ = p;
    Decimal decimal;
    for (; p < end && is_digit(*p); ++p) decimal.add(*p, false);
    if (p < end && *p == '.')
        for (++p; p < end && is_digit(*p); ++p) decimal.add(*p, true);
    const string_view number(unsigned_, static_cast<std::size_t>(end - unsigned_));
    if (!decimal.any) {
        const auto word = word_of(number);
        return word && negative ? -*word : word;
    }
    if (p < end && (*p == 'e' || *p == 'E') && !read_exponent(p, end, decimal.exponent))
        return std::nullopt;
    if (p != end) return std::nullopt;
    double value = static_cast<double>(decimal.digits);
    const auto power = decimal.exponent;
    if (decimal.digits == 0) {
        value = 0;
    } else if (plain_doubles && !decimal.more && decimal.digits <= exact &&
               -largest_power <= power && power <= largest_power) {
        value = power < 0 ? value / powers[-power] : value * powers[power];
    } else {
        value = rounded(number, decimal);
    }
    return negative ? -value : value;
}

}  // namespace idealist
