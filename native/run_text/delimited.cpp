#include "run_text/delimited.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "text/number.hpp"

namespace idealist {

namespace {

constexpr std::size_t longest_cell = 131072;  // as Python's csv has it, in characters

// A cell as it is written, without the quotes around it; those inside it are doubled.
struct Cell {
    string_view text;
    bool doubled = false;
};

const char* find(const char* p, const char* end, char c) {
    return static_cast<const char*>(std::memchr(p, c, static_cast<std::size_t>(end - p)));
}

// Read a cell and stop at what follows it; false if the text ends before it does. Where nothing is
// wrong, a separator or a line feed follows.
bool next_cell(const char*& p, const char* end, const Layout& layout, Cell& cell) {
    if (layout.skip_blanks)
        while (p < end && *p == ' ') ++p;
    if (p == end) return false;
    const char* begin = p;
    cell = {};
    if (*p != '"') {
        while (p < end && *p != layout.separator && *p != '\n') ++p;
        if (p == end) return false;
        const char* last = *p == '\n' && p > begin && p[-1] == '\r' ? p - 1 : p;
        cell.text = {begin, static_cast<std::size_t>(last - begin)};
        return true;
    }
    for (p = ++begin;; p += 2, cell.doubled = true) {
        p = find(p, end, '"');
        if (!p || end - p < 2) return false;
        if (p[1] != '"') break;
    }
    cell.text = {begin, static_cast<std::size_t>(p - begin)};
    ++p;
    if (*p == '\r' && end - p > 1 && p[1] == '\n') ++p;
    return true;
}

bool ends_cell(const char* p, const Layout& layout) {
    return *p == layout.separator || *p == '\n';
}

string_view decoded(const Cell& cell, Arena& arena) {
    if (!cell.doubled) return cell.text;
    std::string single;
    for (std::size_t i = 0; i < cell.text.size(); ++i) {
        single += cell.text[i];
        i += cell.text[i] == '"';
    }
    return arena.copy(single);
}

double number_in(string_view cell, bool decimal_comma) {
    while (cell.starts_with(' ')) cell.remove_prefix(1);
    while (cell.ends_with(' ')) cell.remove_suffix(1);
    std::string pointed;
    if (decimal_comma) {
        require(cell.find('.') == string_view::npos);
        pointed = cell;
        if (const std::size_t comma = pointed.find(','); comma != std::string::npos)
            pointed[comma] = '.';
        require(!cell.ends_with(','));
        cell = pointed;
    }
    const auto number = number_of(cell);
    require(number.has_value());
    return *number;
}

void take(const Cell& cell, Field::Role role, const Layout& layout, Arena& arena, Row& row) {
    switch (role) {
        case Field::Role::query:
            row.query = decoded(cell, arena);
            break;
        case Field::Role::document:
            row.document = decoded(cell, arena);
            break;
        case Field::Role::score:
        case Field::Role::rank:
        case Field::Role::tokens: {
            const auto at = static_cast<std::size_t>(role);
            row.numbers[at] = number_in(decoded(cell, arena), layout.decimal_comma);
            require(at == score_of_row || !std::isnan(row.numbers[at]));
            break;
        }
        default:
            break;
    }
}

}  // namespace

const char* record_end(const char* p, const char* end, const Layout& layout) {
    const char* line = find(p, end, '\n');
    if (!line) return nullptr;
    if (!find(p, line, '"')) return line + 1;
    for (Cell cell; next_cell(p, end, layout, cell); ++p) {
        while (p < end && !ends_cell(p, layout)) ++p;  // a fault, found when the record is read
        if (p == end) break;
        if (*p == '\n') return p + 1;
    }
    return nullptr;
}

bool read_record(const char*& p, const char* end, const Layout& layout, Arena& arena, Row& row) {
    const std::vector<Field>& fields = layout.fields;
    bool any = false, missing = false;
    std::size_t cells = 0;
    for (Cell cell;; ++p) {
        require(next_cell(p, end, layout, cell) && ends_cell(p, layout));
        require(cell.text.size() <= longest_cell);
        if (!cell.text.empty()) {
            any |= cell.text.find_first_not_of(" \t") != string_view::npos;
            if (cells < fields.size()) take(cell, fields[cells].role, layout, arena, row);
        } else if (cells < fields.size()) {
            missing |= fields[cells].role != Field::Role::other;
        }
        ++cells;
        if (*p == '\n') break;
    }
    ++p;
    require(!any || (cells == fields.size() && !missing));
    return any;
}

string_view query_of_record(const char* p, const char* end, const Layout& layout) {
    Cell cell;
    for (const Field& field : layout.fields) {
        if (!next_cell(p, end, layout, cell) || !ends_cell(p, layout)) break;
        if (field.role == Field::Role::query) return cell.text;
        if (*p++ == '\n') break;
    }
    return {};
}

}  // namespace idealist
