// Lines of TREC text, each of which ends in a line feed and may be looked at 64 bytes at once.
#pragma once

#include "text.hpp"

namespace idealist {

enum class Layout { trec, msmarco };

// One data line: query Q0 document rank score tag, or MS MARCO's query document rank.
struct Line {
    string_view query, document, rank;
    double score = 0;
};

// Whether a line holds a row, no data, or something that is neither.
enum class Kind { row, nothing, fault };

// Read the line that begins at `p`, and go to the next.
Kind read_line(const char*& p, const char* end, Layout layout, Line& line);

// The rank of a line, NaN where it is no number.
double rank_of(const Line& line);

// The query of a line; empty where the line holds no data.
string_view query_of(const char* line);

}  // namespace idealist
