// Scan: where the blanks are among the next 64 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#endif

namespace idealist {

constexpr std::size_t scanned = 64;

// One bit for each of 64 bytes, lowest bit first: whether the byte is ' ' or below.
inline std::uint64_t blanks(const char* from) {
    std::uint64_t mask = 0;
#if defined(__SSE2__) || defined(_M_X64)
    const __m128i blank = _mm_set1_epi8(' ');
    for (int i = 0; i < 4; ++i) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 16 * i));
        const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, blank), bytes);
        mask |= static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(low))) << 16 * i;
    }
#else
    for (std::size_t i = 0; i < scanned; ++i)
        mask |= std::uint64_t{static_cast<unsigned char>(from[i]) <= ' '} << i;
#endif
    return mask;
}

}  // namespace idealist
