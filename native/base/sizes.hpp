// Sizes: how much work is done at a time. Apart from the longest line, they affect no result:
// Python reads longer records. Fuzzers make them small (IDEALIST_SMALL), so that small inputs hit
// every boundary.
#pragma once

#include <cstddef>

namespace idealist {

#if defined(IDEALIST_SMALL)
constexpr std::size_t block_size = 64;
constexpr std::size_t longest_line = 80;
constexpr std::size_t longest_record = 4096;
constexpr std::size_t batch_rows = 4;
constexpr std::size_t few = 4;
#else
constexpr std::size_t block_size = std::size_t{2} << 20;      // bytes a thread reads at a time
constexpr std::size_t longest_line = std::size_t{1} << 20;    // the same as in `formats.trec`
constexpr std::size_t longest_record = std::size_t{1} << 26;  // of other text
constexpr std::size_t batch_rows = std::size_t{1} << 16;      // rows handed from thread to thread
constexpr std::size_t few = 64;  // up to here, sorting by comparison is faster
#endif

}  // namespace idealist
