// Delimited text: records of cells between separators, as Python's csv reads them.
#pragma once

#include "base/declined.hpp"
#include "run_text/layout.hpp"
#include "text/arena.hpp"

namespace idealist {

// Where the record that starts at `p` ends, after its line feed; null if `end` comes first.
const char* record_end(const char* p, const char* end, const Layout& layout);

// Read the record that starts at `p`, and move on to the next; false if all its cells are empty.
// Cells with quotes inside are decoded into the arena. What is not plain is declined.
bool read_record(const char*& p, const char* end, const Layout& layout, Arena& arena, Row& row);

// The query of a record as it is written, empty if it has none.
string_view query_of_record(const char* p, const char* end, const Layout& layout);

}  // namespace idealist
