// Bytes: blanks and digits as the methods of Python's bytes see them, and unaligned loads.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace idealist {

using std::string_view;

// Whether bytes.split() splits here; a line feed counts as a blank.
inline bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

template <typename Word>
inline std::uint64_t load(const char* from) {
    Word word;
    std::memcpy(&word, from, sizeof word);
    return word;
}

}  // namespace idealist
