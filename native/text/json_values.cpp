#include "text/json_values.hpp"

#include <algorithm>
#include <cstdint>

#include "text/number.hpp"
#include "text/utf8.hpp"

namespace idealist {

namespace {

constexpr int deepest = 64;               // values inside values
constexpr std::size_t most_keys = 64;     // of an object that is skipped
constexpr std::size_t most_digits = 300;  // of a whole number, so that a double can hold it

bool is_whole(string_view number) {
    return number.find_first_of(".eE") == string_view::npos;
}

// The value of a hexadecimal digit; -1 if it is none.
int hex_of(char c) {
    if (is_digit(c)) return c - '0';
    const char low = static_cast<char>(c | 0x20);
    return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

// The code of four hexadecimal digits, which were checked.
std::uint32_t code_of(const char* digits) {
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i) code = code << 4 | static_cast<std::uint32_t>(hex_of(digits[i]));
    return code;
}

// What an escape such as \n stands for.
char meaning_of(char letter) {
    constexpr string_view letters = "bfnrt", meanings = "\b\f\n\r\t";
    const std::size_t at = letters.find(letter);
    return at == string_view::npos ? letter : meanings[at];
}

}  // namespace

string_view Json::raw_text() {
    take('"');
    const char* begin = at_;
    for (;;) {
        const char c = *at_;
        if (c == '"') break;
        require(static_cast<unsigned char>(c) >= ' ');
        if (c == '\\')
            skip_escape();
        else
            ++at_;
    }
    return {begin, static_cast<std::size_t>(at_++ - begin)};
}

void Json::skip_escape() {
    const char letter = at_[1];
    require(letter == 'u' || string_view("\"\\/bfnrt").find(letter) != string_view::npos);
    at_ += 2;
    if (letter != 'u') return;
    for (int i = 0; i < 4; ++i) require(hex_of(*at_++) >= 0);
}

string_view Json::text() {
    const string_view raw = raw_text();
    if (raw.find('\\') == string_view::npos) return raw;
    decoded_.clear();
    const auto is_low = [](std::uint32_t code) { return code >= 0xdc00 && code < 0xe000; };
    for (const char *p = raw.data(), *end = p + raw.size(); p < end;) {
        if (*p != '\\') {
            decoded_ += *p++;
        } else if (p[1] != 'u') {
            decoded_ += meaning_of(p[1]);
            p += 2;
        } else {
            std::uint32_t code = code_of(p + 2);
            p += 6;
            require(!is_low(code));
            if (code >= 0xd800 && code < 0xdc00) {  // half of a pair
                require(end - p >= 6 && p[0] == '\\' && p[1] == 'u' && is_low(code_of(p + 2)));
                code = 0x10000 + ((code - 0xd800) << 10) + (code_of(p + 2) - 0xdc00);
                p += 6;
            }
            char bytes[4];
            decoded_.append(bytes, write_utf8(code, bytes));
        }
    }
    return arena_.copy(decoded_);
}

string_view Json::raw_number() {
    peek();
    const char* begin = at_;
    const auto digits = [&] {
        require(is_digit(*at_));
        while (is_digit(*at_)) ++at_;
    };
    at_ += *at_ == '-';
    if (*at_ == '0')
        ++at_;
    else
        digits();
    if (*at_ == '.') ++at_, digits();
    if (*at_ == 'e' || *at_ == 'E') {
        ++at_;
        at_ += *at_ == '-' || *at_ == '+';
        digits();
    }
    const string_view number(begin, static_cast<std::size_t>(at_ - begin));
    require(!is_whole(number) || number.size() <= most_digits);
    return number;
}

double Json::number() {
    const string_view number = raw_number();
    const double value = number_of(number).value();
    return is_whole(number) ? value + 0.0 : value;  // -0 is a whole number, and 0
}

string_view Json::id() {
    if (peek() != '"') {
        const string_view number = raw_number();
        require(is_whole(number) && number != "-0");
        return number;
    }
    const string_view id = text();
    require(!id.empty());
    return id;
}

void Json::skip() {
    skip(0);
}

void Json::skip(int depth) {
    require(depth < deepest);
    const auto word = [&](string_view letters) {
        for (const char letter : letters) require(*at_++ == letter);
    };
    switch (peek()) {
        case '"':
            raw_text();
            break;
        case '{':
            skip_object(depth);
            break;
        case '[':
            list([&] { skip(depth + 1); });
            break;
        case 't':
            word("true");
            break;
        case 'f':
            word("false");
            break;
        case 'n':
            word("null");
            break;
        default:
            raw_number();
    }
}

void Json::skip_object(int depth) {
    const std::size_t outer = keys_.size();
    object([&](string_view key) {
        const auto own = keys_.begin() + static_cast<std::ptrdiff_t>(outer);
        require(std::find(own, keys_.end(), key) == keys_.end());
        require(keys_.size() - outer < most_keys);
        keys_.push_back(key);
        skip(depth + 1);
    });
    keys_.resize(outer);
}

}  // namespace idealist
