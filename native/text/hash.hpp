// Hash: where to look up an id.
#pragma once

#include <cstdint>

#include "text/bytes.hpp"

#if defined(_MSC_VER)
#include <intrin.h>
#endif

namespace idealist {

// Multiply to 128 bits and fold, so that every bit of both factors affects every bit of the result.
inline std::uint64_t folded(std::uint64_t a, std::uint64_t b) {
#if defined(_MSC_VER)
    std::uint64_t high;
    const std::uint64_t low = _umul128(a, b, &high);
    return low ^ high;
#else
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#endif
}

// Hash an id. The hash says where to look, never what is equal: ids are compared byte by byte.
inline std::uint64_t hash_of(string_view id) {
    constexpr std::uint64_t salt = 0x9e3779b97f4a7c15, other = 0xd1b54a32d192ed03;
    const char* p = id.data();
    std::size_t left = id.size();
    std::uint64_t seed = salt ^ left;
    for (; left > 16; p += 16, left -= 16)
        seed = folded(load<std::uint64_t>(p) ^ salt, load<std::uint64_t>(p + 8) ^ seed);
    std::uint64_t a = 0, b = 0;
    if (left >= 8) {
        a = load<std::uint64_t>(p), b = load<std::uint64_t>(p + left - 8);
    } else if (left >= 4) {
        a = load<std::uint32_t>(p), b = load<std::uint32_t>(p + left - 4);
    } else if (left > 0) {
        const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(p[i]); };
        a = static_cast<std::uint64_t>(byte(0)) << 16 | byte(left / 2) << 8 | byte(left - 1);
    }
    return folded(a ^ other, b ^ seed);
}

}  // namespace idealist
