// Records: JSON by the line, with an object for each row or for each query.
#pragma once

#include <functional>

#include "run_text/layout.hpp"
#include "text/arena.hpp"

namespace idealist {

// Both read one line. All keys must be known to the layout, each at most once, and those that hold
// something must be there. What is not plain is declined.
void read_hit(const char* line, const Layout& layout, Arena& arena, Row& row);

// Pass the rows of a query to `add`, or a row without a document if there are none; return the
// query.
string_view read_list(const char* line, const Layout& layout, Arena& arena,
                      const std::function<void(const Row&)>& add);

// The query of a hit as it is written, empty if there is none.
string_view query_of_hit(const char* line, const Layout& layout);

}  // namespace idealist
