// Numbers in text, as Python's float() reads them.
#pragma once

#include <optional>

#include "text/bytes.hpp"

namespace idealist {

// What float() makes of a cell, correctly rounded in any locale; nullopt where it would raise.
// Underscores, which Python allows between digits, are refused.
std::optional<double> number_of(string_view cell);

}  // namespace idealist
