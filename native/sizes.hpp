// Sizes: how much is done at once. They change no result, apart from the longest line; fuzzers make
// them small (IDEALIST_SMALL), so that small inputs meet every boundary.
#pragma once

#include <cstddef>

namespace idealist {

#if defined(IDEALIST_SMALL)
constexpr std::size_t block_size = 64;
constexpr std::size_t longest_line = 80;
constexpr std::size_t batch_rows = 4;
constexpr std::size_t few = 4;
#else
constexpr std::size_t block_size = std::size_t{2} << 20;    // bytes that a thread reads at once
constexpr std::size_t longest_line = std::size_t{1} << 20;  // as `formats.trec_lines` has it
constexpr std::size_t batch_rows = std::size_t{1} << 16;    // rows that go from thread to thread
constexpr std::size_t few = 64;  // entries that are sorted faster by comparing them
#endif

}  // namespace idealist
