// Layout: how a text holds the rows of a run.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "text/bytes.hpp"

namespace idealist {

// The numbers of a row: whether there is each of them, or their values.
constexpr std::size_t score_of_row = 0, rank_of_row = 1, tokens_of_row = 2;
template <typename Value>
using ByNumber = std::array<Value, 3>;

// One row of a run; without a document, it says that nothing was retrieved for its query.
struct Row {
    string_view query, document;
    ByNumber<double> numbers{};
};

// A column of delimited text, or a key of a JSON object, and what it holds.
struct Field {
    // What is required must be there, and what is other may be; neither is read.
    enum class Role { score, rank, tokens, query, document, list, required, other };
    std::string name;
    Role role;
};

struct Layout {
    enum class Kind {
        trec,       // query Q0 document rank score tag
        msmarco,    // query document rank
        delimited,  // cells between separators, quoted as in RFC 4180
        hits,       // a JSON object a line, for each row
        lists       // a JSON object a line, for each query and the list of its documents
    };
    enum class Items { ids, pairs, objects };  // what such a list holds

    Kind kind = Kind::trec;
    std::vector<Field> fields;  // in order; of JSON, all keys that are understood
    std::size_t header = 0;     // how many bytes precede the first row
    char separator = ',';
    bool decimal_comma = false;  // 0,5 is a half
    bool skip_blanks = false;    // blanks after a separator are no part of the cell
    Items items = Items::ids;
    std::vector<Field> item_fields;  // the keys of objects in a list

    // Faults in lines of TREC text are reported; other text that is not plain is declined.
    bool is_trec() const { return kind == Kind::trec || kind == Kind::msmarco; }

    // Which numbers the rows have.
    ByNumber<bool> numbers() const {
        if (is_trec()) return {kind == Kind::trec, true, false};
        ByNumber<bool> has{kind == Kind::lists && items == Items::pairs};
        for (const auto* some : {&fields, &item_fields})
            for (const Field& field : *some)
                if (const auto at = static_cast<std::size_t>(field.role); at < has.size())
                    has[at] = true;
        return has;
    }
};

}  // namespace idealist
