// Numbers in text, as Python's float() reads them.
#pragma once

#include <cstdint>
#include <optional>

#include "text/bytes.hpp"

namespace idealist {

// What float() makes of a cell, correctly rounded in any locale; nullopt where it would raise.
// Underscores, which Python allows between digits, are refused.
std::optional<double> number_of(string_view cell);

// Whether `divided` works here; where not, `number_of` finds another way.
#if defined(__SIZEOF_INT128__)
constexpr bool divides = true;
#else
constexpr bool divides = false;
#endif
constexpr int most_places = 27;  // the last power of 5 below 2^63

// digits / 10^places, correctly rounded, for 0 to `most_places` places.
double divided(std::uint64_t digits, int places);

}  // namespace idealist
