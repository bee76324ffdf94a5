// Bytes: blanks and digits as the methods of Python's bytes see them, and unaligned loads.
#pragma once

#include <bit>
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

// Whether two texts are the same; eight bytes may be read from where each starts.
inline bool same_word(string_view a, string_view b) {
    if (a.size() != b.size()) return false;
    if (a.size() > 8 || a.empty() || std::endian::native != std::endian::little) return a == b;
    const auto differing = load<std::uint64_t>(a.data()) ^ load<std::uint64_t>(b.data());
    return differing << (64 - 8 * a.size()) == 0;
}

}  // namespace idealist
