// Lines of TREC text.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <version>

#include "base/declined.hpp"
#include "fusing/lists.hpp"

namespace idealist {

namespace {

// The fewest digits that read back as the same number, and where its decimal point is: 0.0015 is
// 15 and -2.
struct Digits {
    char digits[20];
    int count = 0, point = 0;
};

Digits shortest(double positive) {
    char written[40];
    char* end;
#if defined(__cpp_lib_to_chars)
    end = std::to_chars(written, written + sizeof written, positive, std::chars_format::scientific)
              .ptr;
#else
    for (int precision = 0;; ++precision) {
        end = written + std::snprintf(written, sizeof written, "%.*e", precision, positive);
        if (precision == 16 || std::strtod(written, nullptr) == positive) break;
    }
#endif
    *end = '\0';
    Digits found;
    const char* p = written;
    for (; p < end && *p != 'e'; ++p)
        if (is_digit(*p)) found.digits[found.count++] = *p;
    while (found.count > 1 && found.digits[found.count - 1] == '0') --found.count;
    found.point = std::atoi(p + 1) + 1;
    return found;
}

void add_integer(std::string& text, long long number) {
    char digits[24];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// Write a score as `idealist.formats.encode` does: whole numbers without a point, others as repr.
void add_score(std::string& text, double score) {
    if (!std::isfinite(score)) {
        text.append(std::isnan(score) ? "nan" : score > 0 ? "inf" : "-inf");
        return;
    }
    const bool zero_below = score == 0 && std::signbit(score);
    if (std::trunc(score) == score && std::fabs(score) < 1e15 && !zero_below)
        return add_integer(text, static_cast<long long>(score));
    if (std::signbit(score)) text.push_back('-');
    if (zero_below) {
        text.append("0.0");
        return;
    }
    const Digits found = shortest(std::fabs(score));
    const auto digits = [&](int from, int to) {
        for (int i = from; i < to; ++i) text.push_back(i < found.count ? found.digits[i] : '0');
    };
    if (found.point > -4 && found.point <= 16) {
        if (found.point <= 0) {
            text.append("0.").append(static_cast<std::size_t>(-found.point), '0');
            digits(0, found.count);
        } else {
            digits(0, found.point);
            text.push_back('.');
            digits(found.point, std::max(found.count, found.point + 1));
        }
        return;
    }
    digits(0, 1);
    if (found.count > 1) text.push_back('.');
    digits(1, found.count);
    const int exponent = found.point - 1;
    text.append(exponent < 0 ? "e-" : "e+");
    if (std::abs(exponent) < 10) text.push_back('0');
    add_integer(text, std::abs(exponent));
}

void require_word(string_view id) {
    for (const char c : id) require(!is_blank(c) && c != '\0');
}

}  // namespace

std::string trec_lines(const std::vector<string_view>& queries, const Lists& lists,
                       string_view tag) {
    std::string text;
    for (std::size_t query = 0; query < queries.size(); ++query) {
        if (lists.starts[query] == lists.starts[query + 1]) continue;
        long long rank = 0;
        require_word(queries[query]);
        require(!queries[query].starts_with('#'));
        for (std::int64_t i = lists.starts[query]; i < lists.starts[query + 1]; ++i) {
            require_word(lists.id(i));
            text.append(queries[query]).append(" Q0 ").append(lists.id(i)).push_back(' ');
            add_integer(text, ++rank);
            text.push_back(' ');
            add_score(text, lists.scores[i]);
            text.append(" ").append(tag).push_back('\n');
        }
    }
    return text;
}

}  // namespace idealist
