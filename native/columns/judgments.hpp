// Judgments in columns.
#pragma once

#include "columns/grouped.hpp"
#include "judgments/judgments.hpp"

namespace idealist {

// Read judgments whose grades stand where a run has its scores. Ids that are not text in memory
// are written into the arena.
Judgments read_judgments(const Columns& columns, Arena& arena);

}  // namespace idealist
