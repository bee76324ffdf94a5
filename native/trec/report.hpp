// Report: what is learned about a text besides its rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "trec/blocks.hpp"
#include "trec/lines.hpp"

namespace idealist {

constexpr std::size_t shown_faults = 10;  // as many as an error shows

// What makes bytes not text at all, in the order it is refused.
enum TextFault { nul, carriage_return, utf8 };

// Where a line is, while the number of lines in earlier blocks is still unknown.
struct Position {
    std::size_t block = std::numeric_limits<std::size_t>::max(), line = 0;
    auto operator<=>(const Position&) const = default;
};

struct LineFault {
    Position position;
    std::string text;
};

struct TextFound {
    Position position;
    unsigned char byte = 0;
};

// What was learned about one block, or about all of them together.
struct Report {
    std::vector<std::pair<std::size_t, std::size_t>> lines;  // a block, and how many lines it has
    std::vector<LineFault> faults;                           // the first few
    std::size_t total_faults = 0;
    std::size_t rows = 0, bytes = 0;
    bool shortened = false;  // part of a line that is too long was left out
    std::array<TextFound, 3> text;
    double least_rank = std::numeric_limits<double>::infinity();

    bool is_clean() const;
    void add(const Report& other);                  // another block's report, in any order
    std::vector<std::size_t> lines_before() const;  // each block, once all were added
    std::size_t line(const Position& at) const;     // its number in the file, from 1
};

// Look for bytes that cannot be text.
void check_text(const Block& block, Report& report);

// Pass each data line of a block to `row`, with its number in the block, and note the faulty ones.
template <typename Row>
void read_block(const Block& block, Layout layout, Report& report, Row row) {
    check_text(block, report);
    if (!report.is_clean()) {  // whatever these bytes are, they are not rows
        report.lines.emplace_back(block.number, std::count(block.begin(), block.end(), '\n'));
        return;
    }
    std::size_t number = 0;
    Line line;
    for (const char *p = block.begin(), *end = block.end(); p < end;) {
        const char* begin = p;
        const Kind kind = read_line(p, end, layout, line);
        ++number;
        const auto length = static_cast<std::size_t>(p - begin - 1);
        if (kind == Kind::fault || length > longest_line) {
            if (++report.total_faults <= shown_faults)
                report.faults.push_back({{block.number, number},
                                         std::string(begin, std::min(length, longest_line + 1))});
        } else if (kind == Kind::row) {
            ++report.rows;
            if (layout == Layout::msmarco)
                report.least_rank = std::min(report.least_rank, rank_of(line));
            row(number, line);
        }
    }
    report.lines.emplace_back(block.number, number);
}

}  // namespace idealist
