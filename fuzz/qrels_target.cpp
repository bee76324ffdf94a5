// Fuzz target: TREC's qrels, and judgments in rows.
//
// Nothing may be read outside the text, and the table must be that of a reader that is too simple
// to be wrong: what it finds unusual is declined.
#include <cmath>
#include <map>
#include <optional>

#include "base/declined.hpp"
#include "base/sizes.hpp"
#include "judgments/judgments.hpp"
#include "target.hpp"
#include "text/number.hpp"
#include "text/utf8.hpp"

using namespace idealist;

namespace {

// The grades by query and document, in the order of their bytes, and how many rows repeat another.
struct Simple {
    std::map<std::string, std::map<std::string, double>> grades;
    std::size_t repeats = 0;

    bool add(const std::string& query, const std::string& document, double grade) {
        const auto [found, is_new] = grades[query].try_emplace(document, grade);
        repeats += !is_new;
        return found->second == grade && std::isfinite(grade) && std::abs(grade) <= 1e9;
    }
};

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells(1);
    for (const char c : line) {
        if (!is_blank(c))
            cells.back() += c;
        else if (!cells.back().empty())
            cells.emplace_back();
    }
    if (cells.back().empty()) cells.pop_back();
    return cells;
}

std::optional<Simple> read_simply(string_view text) {
    if (bad_utf8(text.data(), text.data() + text.size())) return {};
    Simple simple;
    std::string usual;
    while (!text.empty()) {
        const std::string line(text.substr(0, text.find('\n')));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.size() > longest_line) return {};
        const auto cells = cells_of(line);
        if (cells.empty() || cells[0][0] == '#') continue;
        const auto grade = cells.size() == 4 ? number_of(cells[3]) : std::nullopt;
        if (!grade || (cells[1] != "0" && cells[1] != "Q0")) return {};
        if (usual.empty()) usual = cells[1];
        if (cells[1] != usual || !simple.add(cells[0], cells[2], *grade)) return {};
    }
    return simple.grades.empty() ? std::nullopt : std::make_optional(simple);
}

template <typename Read>
std::optional<Judgments> unless_declined(Read read) {
    try {
        return read();
    } catch (const Declined&) {
        return {};
    }
}

void check(const std::optional<Judgments>& found, const std::optional<Simple>& simple) {
    CHECK(found.has_value() == simple.has_value());
    if (!found) return;
    CHECK(found->repeats == simple->repeats);
    CHECK(found->starts.size() == found->queries.size() + 1);
    CHECK(found->queries.size() == simple->grades.size());
    std::size_t query = 0, pair = 0;
    for (const auto& [name, grades] : simple->grades) {
        CHECK(found->queries[query] == name);
        CHECK(found->starts[query++] == static_cast<std::int64_t>(pair));
        for (const auto& [document, grade] : grades) {
            CHECK(found->documents[pair] == document);
            CHECK(std::bit_cast<std::uint64_t>(found->grades[pair++]) ==
                  std::bit_cast<std::uint64_t>(grade));
        }
    }
    CHECK(found->documents.size() == pair && found->grades.size() == pair);
    CHECK(found->starts.back() == static_cast<std::int64_t>(pair));
}

// Rows of any bytes: ids of up to 20, so that what follows the first eight matters too.
void check_rows(string_view data) {
    Choices choices(data);
    const std::string all(data.substr(0, 64));
    JudgmentRows rows;
    Simple simple;
    bool plain = false, fine = true;
    for (std::size_t i = 0; i < 40 && !data.empty() && fine; ++i) {
        const auto id = [&](std::size_t most) {
            const std::size_t begin = choices.below(all.size() + 1);
            return string_view(all).substr(begin, choices.below(most));
        };
        const string_view query = id(3), document = id(21);
        const double grade = static_cast<double>(choices.below(3)) - (choices.below(2) ? 0.5 : 0);
        plain = true;
        fine = simple.add(std::string(query), std::string(document), grade);
        rows.add(query, document, grade);
    }
    check(unless_declined([&] { return rows.sorted(); }),
          plain && fine ? std::make_optional(simple) : std::nullopt);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::vector<char> exactly(data, data + size);  // with nothing to read behind it
    const string_view text(exactly.data(), size);
    check(unless_declined([&] { return read_qrels(text); }), read_simply(text));
    check_rows(text);
    return 0;
}
