// Streamed: a run that comes in batches of columns, ranked as far as it is there.
#pragma once

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "columns/arrow.hpp"
#include "columns/grouped.hpp"

namespace idealist {

// The columns of a table that is partly read.
using Window = std::function<Columns()>;

// Rank a stream whose queries have their rows together, a query as soon as its last row is there;
// batches whose rows are ranked are dropped. False if the rows of a query are apart.
bool rank_stream(ArrowTable& table, const Window& window, const std::vector<Task>& tasks,
                 Found& found, std::unordered_set<std::string>& unknown, std::size_t threads,
                 const std::function<void()>& check);

}  // namespace idealist
