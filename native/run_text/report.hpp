// Report: what is learned about a text besides its rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/declined.hpp"
#include "run_text/blocks.hpp"
#include "run_text/delimited.hpp"
#include "run_text/lines.hpp"
#include "run_text/records.hpp"

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
    std::unordered_set<std::string> lists;  // the queries of lists
    bool empty = false;                     // one of these lists is

    bool is_clean() const;
    void add(const Report& other);                  // another block's report, in any order
    std::vector<std::size_t> lines_before() const;  // each block, once all were added
    std::size_t line(const Position& at) const;     // its number in the file, from 1
};

// Look for bytes that cannot be text.
void check_text(const Block& block, Report& report);

// Pass the row of each data line to `add`, with the line's number in the block, and note faulty
// ones.
template <typename Add>
void read_lines(const Block& block, Layout::Kind layout, bool ranks, Report& report, Add add) {
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
            const double rank = ranks ? rank_of(line) : 0;
            if (layout == Layout::Kind::msmarco)
                report.least_rank = std::min(report.least_rank, rank);
            add(number, Row{line.query, line.document, {line.score, rank, 0}});
        }
    }
    report.lines.emplace_back(block.number, number);
}

// Pass the rows of delimited text or JSON to `add`, each with the number of its first line.
template <typename Add>
void read_records(const Block& block, const Layout& layout, Arena& arena, Report& report, Add add) {
    std::size_t number = 1;
    Row row;
    for (const char *p = block.begin(), *end = block.end(); p < end;) {
        const char* begin = p;
        if (layout.kind == Layout::Kind::delimited) {
            if (read_record(p, end, layout, arena, row)) add(number, row);
            number += static_cast<std::size_t>(std::count(begin, p, '\n'));
            continue;
        }
        p = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p))) + 1;
        if (begin + std::strspn(begin, " \t\r") + 1 == p) {
            // nothing but blanks
        } else if (layout.kind == Layout::Kind::hits) {
            read_hit(begin, layout, arena, row);
            add(number, row);
        } else {
            const string_view query = read_list(begin, layout, arena, [&](const Row& one) {
                report.empty |= one.document.empty();
                add(number, one);
            });
            require(report.lists.emplace(query).second);
        }
        ++number;
    }
    report.lines.emplace_back(block.number, number - 1);
}

// Pass the rows of a block to `add`, each with its line in the block; of TREC text, faults are
// noted, and ranks are read if they are wanted. The arena holds what had to be decoded.
template <typename Add>
void read_block(const Block& block, const Layout& layout, bool ranks, Arena& arena, Report& report,
                Add add) {
    check_text(block, report);
    if (!report.is_clean()) {  // whatever these bytes are, they are not rows
        require(layout.is_trec());
        report.lines.emplace_back(block.number, std::count(block.begin(), block.end(), '\n'));
        return;
    }
    const auto counted = [&](std::size_t number, const Row& row) {
        ++report.rows;
        add(number, row);
    };
    if (layout.is_trec())
        read_lines(block, layout.kind, ranks, report, counted);
    else
        read_records(block, layout, arena, report, counted);
}

}  // namespace idealist
