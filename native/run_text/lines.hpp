// Lines of TREC text. Each ends in a line feed, and 64 bytes may be read from where it starts.
#pragma once

#include "run_text/layout.hpp"

namespace idealist {

// One data line: query Q0 document rank score tag, or MS MARCO's query document rank.
struct Line {
    string_view query, document, rank;
    double score = 0;
};

// Whether a line is a row, holds no data, or is faulty.
enum class Kind { row, nothing, fault };

// Read the line that starts at `p`, and move on to the next.
Kind read_line(const char*& p, const char* end, Layout::Kind layout, Line& line);

// The rank on a line, NaN if it is not a number.
double rank_of(const Line& line);

// The query on a line, empty if the line holds no data.
string_view query_of(const char* line);

}  // namespace idealist
