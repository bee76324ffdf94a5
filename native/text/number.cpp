#include "text/number.hpp"

#include <array>
#include <bit>
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

#if defined(__SIZEOF_INT128__)

namespace {

__extension__ using Wide = unsigned __int128;

// A power of 5, shifted so that its highest bit is set, and 2^127 divided by that.
struct Power {
    std::uint64_t shifted, inverse;
    int shift;
};

constexpr auto fives = [] {
    std::array<Power, most_places + 1> made{};
    std::uint64_t power = 1;
    for (Power& one : made) {
        const int shift = std::countl_zero(power);
        const std::uint64_t shifted = power << shift;
        one = {shifted, static_cast<std::uint64_t>(((Wide{1} << 127) - 1) / shifted), shift};
        power *= 5;
    }
    return made;
}();

}  // namespace

// Divide whole numbers to 63 bits or more, then round to 53. A power of 2 shifts the result only,
// so that it suffices to divide by the power of 5. Multiplying with its inverse gives a quotient
// that is too small by less than 2, which hardly ever matters.
double divided(std::uint64_t digits, int places) {
    if (digits == 0) return 0;
    const Power& by = fives[static_cast<std::size_t>(places)];
    const int shift = std::countl_zero(digits);
    const std::uint64_t shifted = digits << shift;
    auto quotient = static_cast<std::uint64_t>(static_cast<Wide>(shifted) * by.inverse >> 64);
    const int left_out = 11 - std::countl_zero(quotient);
    const std::uint64_t half = std::uint64_t{1} << (left_out - 1), cut = quotient & (2 * half - 1);
    bool up = cut > half;
    if (cut == half || cut == half - 1) [[unlikely]] {
        const Wide whole = static_cast<Wide>(shifted) << 63;
        quotient = static_cast<std::uint64_t>(whole / by.shifted);
        const std::uint64_t exactly = quotient & (2 * half - 1);
        const bool rest = static_cast<Wide>(quotient) * by.shifted != whole;
        up = exactly > half || (exactly == half && (rest || (quotient >> left_out & 1)));
    }
    const std::uint64_t kept = (quotient >> left_out) + up;
    const int exponent = left_out + by.shift - shift - places - 63;
    return static_cast<double>(kept) *
           std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

#else

double divided(std::uint64_t, int) {
    return std::numeric_limits<double>::quiet_NaN();
}

#endif

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
    } else if (divides && !decimal.more && -most_places <= power && power <= 0) {
        value = divided(decimal.digits, static_cast<int>(-power));
    } else {
        value = rounded(number, decimal);
    }
    return negative ? -value : value;
}

}  // namespace idealist
