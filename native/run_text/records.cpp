#include "run_text/records.hpp"

#include <algorithm>
#include <cstdint>

#include "base/declined.hpp"
#include "text/json_values.hpp"

namespace idealist {

namespace {

using Role = Field::Role;

// Where a key is among the fields; mostly it is the next one.
std::size_t index_of(const std::vector<Field>& fields, string_view key, std::size_t next) {
    if (next < fields.size() && fields[next].name == key) return next;
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&](const Field& field) { return field.name == key; });
    require(found != fields.end());
    return static_cast<std::size_t>(found - fields.begin());
}

// Read an object; `take(role)` must read the value of a key that holds something.
template <typename Take>
void read_members(Json& json, const std::vector<Field>& fields, Take take) {
    std::uint64_t seen = 0;
    require(fields.size() <= 64);
    std::size_t next = 0;
    json.object([&](string_view key) {
        const std::size_t at = index_of(fields, key, next);
        require(!(seen >> at & 1));
        seen |= std::uint64_t{1} << at;
        next = at + 1;
        if (fields[at].role >= Role::required)
            json.skip();
        else
            take(fields[at].role);
    });
    for (std::size_t i = 0; i < fields.size(); ++i)
        require(fields[i].role == Role::other || seen >> i & 1);
}

void read_cell(Json& json, Role role, Row& row) {
    if (role == Role::query)
        row.query = json.id();
    else if (role == Role::document)
        row.document = json.id();
    else
        row.numbers[static_cast<std::size_t>(role)] = json.number();
}

void read_item(Json& json, const Layout& layout, Row& row) {
    switch (layout.items) {
        case Layout::Items::ids:
            row.document = json.id();
            break;
        case Layout::Items::pairs:
            json.take('[');
            row.document = json.id();
            json.take(',');
            row.numbers[score_of_row] = json.number();
            json.take(']');
            break;
        case Layout::Items::objects:
            read_members(json, layout.item_fields, [&](Role role) { read_cell(json, role, row); });
    }
}

void check_end(Json& json) {
    require(json.peek() == '\n');
}

}  // namespace

void read_hit(const char* line, const Layout& layout, Arena& arena, Row& row) {
    Json json(line, arena);
    read_members(json, layout.fields, [&](Role role) { read_cell(json, role, row); });
    check_end(json);
}

string_view read_list(const char* line, const Layout& layout, Arena& arena,
                      const std::function<void(const Row&)>& add) {
    Row row;
    const auto read_items = [&](Json& json) {
        bool any = false;
        json.list([&] {
            read_item(json, layout, row);
            add(row);
            any = true;
        });
        if (!any) add(row);
    };
    Json json(line, arena);
    const char* list = nullptr;
    read_members(json, layout.fields, [&](Role role) {
        if (role != Role::list) {
            read_cell(json, role, row);
        } else if (!row.query.empty()) {
            read_items(json);
        } else {  // its query is not known yet
            json.peek();
            list = json.position();
            json.skip();
        }
    });
    check_end(json);
    if (list) {
        Json again(list, arena);
        read_items(again);
    }
    return row.query;
}

string_view query_of_hit(const char* line, const Layout& layout) {
    const auto field = std::find_if(layout.fields.begin(), layout.fields.end(),
                                    [](const Field& one) { return one.role == Role::query; });
    Arena arena;
    Json json(line, arena);
    if (field == layout.fields.end() || json.peek() != '{') return {};
    string_view query;
    try {
        json.object([&](string_view key) {
            json.peek();
            const char* begin = json.position();
            json.skip();
            if (key == field->name)
                query = {begin, static_cast<std::size_t>(json.position() - begin)};
        });
    } catch (const Declined&) {
        return {};  // found again when the line is read
    }
    return query;
}

}  // namespace idealist
