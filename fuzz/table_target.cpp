// Fuzz target: delimited text and JSON by the line, ranked and picked from.
//
// Nothing may be read outside the text, and neither threads nor pieces may change what is found, or
// whether it is declined. Cells of delimited text must match those of a reader that is too simple
// to be wrong.
#include <map>
#include <optional>

#include "pieces.hpp"
#include "run_text/ranked_text.hpp"
#include "target.hpp"

using namespace idealist;

namespace {

using Role = Field::Role;

Layout some_layout(Choices& choices) {
    Layout made;
    made.kind = static_cast<Layout::Kind>(2 + choices.below(3));
    made.separator = ",;\t|"[choices.below(4)];
    made.skip_blanks = choices.below(4) == 0;
    made.decimal_comma = choices.below(4) == 0;
    made.header = (choices.below(4) == 0) * choices.below(30);
    made.items = static_cast<Layout::Items>(choices.below(3));
    const bool scores = choices.below(2), ranks = choices.below(2);
    made.fields = {{"q", Role::query}};
    if (made.kind == Layout::Kind::lists) {
        made.fields.push_back({"l", Role::list});
        made.item_fields = {{"d", Role::document}, {"s", Role::score}, {"x", Role::other}};
    } else {
        made.fields.push_back({"d", Role::document});
        if (scores) made.fields.push_back({"s", Role::score});
        if (ranks) made.fields.push_back({"r", Role::rank});
    }
    made.fields.push_back({"x", choices.below(2) ? Role::required : Role::other});
    if (choices.below(4) == 0) std::swap(made.fields[0], made.fields[1]);
    return made;
}

// What ranking came to: nothing if it was declined.
using Outcome = std::optional<std::pair<Facts, std::vector<std::string>>>;

Outcome outcome_of(const Open& open, const Layout& layout, const std::vector<Task>& tasks,
                   std::size_t threads) {
    try {
        TextRanked ranked = rank_text(open, layout, tasks, threads, [] {});
        CHECK(ranked.found);
        Facts facts = facts_of(*ranked.found);
        facts.push_back(ranked.report.rows);
        std::sort(ranked.unknown.begin(), ranked.unknown.end());
        return std::pair(facts, ranked.unknown);
    } catch (const Declined&) {
        return std::nullopt;
    }
}

std::optional<Picked> picked_from(const Open& open, const Layout& layout, std::size_t threads) {
    try {
        return pick_rows(open, layout, judged(), threads, [] {});
    } catch (const Declined&) {
        return std::nullopt;
    }
}

// The records of delimited text, read sign by sign; nothing if a quote is out of place.
using Records = std::vector<std::vector<std::string>>;

std::optional<Records> read_simply(string_view text, const Layout& layout) {
    enum { begin, plain, quoted, closed } state = begin;
    Records records(1);
    records.back().emplace_back();
    const auto end_cell = [&] { records.back().emplace_back(), state = begin; };
    std::string all(text);
    if (!all.ends_with('\n')) all += '\n';
    for (std::size_t i = 0; i < all.size(); ++i) {
        const char c = all[i];
        std::string& cell = records.back().back();
        if (state == quoted) {
            if (c != '"')
                cell += c;
            else if (all[i + 1] == '"')
                cell += all[++i];
            else
                state = closed;
        } else if (c == '\r' && all[i + 1] == '\n') {
            continue;
        } else if (c == '\n') {
            records.emplace_back().emplace_back();
            state = begin;
        } else if (c == layout.separator) {
            end_cell();
        } else if (state == closed) {
            return std::nullopt;
        } else if (state == begin && c == ' ' && layout.skip_blanks) {
            continue;
        } else if (state == begin && c == '"') {
            state = quoted;
        } else {
            cell += c;
            state = plain;
        }
    }
    if (state == quoted) return std::nullopt;
    records.pop_back();
    return records;
}

void check_cells(const Picked& picked, string_view text, const Layout& layout) {
    const auto records = read_simply(text, layout);
    CHECK(records);
    std::map<std::string, std::vector<std::string>> documents;
    for (const std::vector<std::string>& cells : *records) {
        if (std::all_of(cells.begin(), cells.end(), [](auto& cell) { return cell.empty(); }))
            continue;
        CHECK(cells.size() == layout.fields.size());
        const bool swapped = layout.fields[0].role != Role::query;
        documents[cells[swapped]].push_back(cells[!swapped]);
    }
    for (std::size_t query = 0; query < judged_queries.size(); ++query) {
        const auto& expected = documents[std::string(judged_queries[query])];
        const std::vector<std::string> found(
            picked.documents.begin() + static_cast<std::ptrdiff_t>(picked.starts[query]),
            picked.documents.begin() + static_cast<std::ptrdiff_t>(picked.starts[query + 1]));
        CHECK(found == expected);
    }
}

void check(string_view text, const Layout& layout, const std::vector<Task>& tasks,
           std::size_t piece, std::size_t threads) {
    const auto whole = [&] { return std::make_unique<Pieces>(text, text.size()); };
    const auto pieces = [&] { return std::make_unique<Pieces>(text, piece); };
    const Outcome one = outcome_of(whole, layout, tasks, 1);
    CHECK(one == outcome_of(pieces, layout, tasks, threads));
    const auto picked = picked_from(pieces, layout, threads);
    CHECK(picked.has_value() == one.has_value());
    if (!picked || layout.kind != Layout::Kind::delimited) return;
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    check_cells(*picked, text.substr(std::min(layout.header, text.size())), layout);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    string_view text(reinterpret_cast<const char*>(data), size);
    Choices choices(text);
    const std::size_t piece = choices.below(100) + 1, threads = choices.below(4) + 1;
    const Layout layout = some_layout(choices);
    std::vector<Protocol> protocols = {some_protocol(choices), some_protocol(choices)};
    for (Protocol& protocol : protocols)
        if (!layout.numbers()[rank_of_row] && protocol.order == Protocol::Order::rank)
            protocol.order = Protocol::Order::given;  // Python would not ask for ranks
    check(text, layout, {{&judged(), &protocols[0]}, {&judged(), &protocols[1]}}, piece, threads);
    return 0;
}
