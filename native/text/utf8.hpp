// UTF-8: whether bytes are valid, and how a code point is written.
#pragma once

#include <cstdint>

namespace idealist {

// The first byte that is not valid UTF-8; null if all bytes are valid.
const char* bad_utf8(const char* begin, const char* end);

// Write a code point in up to four bytes, which are not valid if it is a surrogate; return the end.
inline char* write_utf8(std::uint32_t code, char* to) {
    const auto tail = [&](int shift) { *to++ = static_cast<char>(0x80 | (code >> shift & 0x3f)); };
    if (code < 0x80) {
        *to++ = static_cast<char>(code);
    } else if (code < 0x800) {
        *to++ = static_cast<char>(0xc0 | code >> 6);
        tail(0);
    } else if (code < 0x10000) {
        *to++ = static_cast<char>(0xe0 | code >> 12);
        tail(6), tail(0);
    } else {
        *to++ = static_cast<char>(0xf0 | code >> 18);
        tail(12), tail(6), tail(0);
    }
    return to;
}

}  // namespace idealist
