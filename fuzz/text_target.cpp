// Fuzz target: TREC text, ranked and picked from, in pieces of any size and by several threads.
//
// Nothing may be read outside the text, and neither threads nor pieces may change what is found.
// Rows and faults must match those of a reader that is too simple to be wrong.
#include <map>

#include "target.hpp"
#include "text/number.hpp"
#include "trec/ranked_text.hpp"

using namespace idealist;

namespace {

// Bytes in memory, handed out in pieces.
class Pieces : public Input {
  public:
    Pieces(string_view text, std::size_t piece) : left_(text), piece_(piece) {}

    std::size_t read(char* into, std::size_t size) override {
        const std::size_t count = std::min({size, piece_, left_.size()});
        std::copy_n(left_.data(), count, into);
        left_.remove_prefix(count);
        return count;
    }

  private:
    string_view left_;
    std::size_t piece_;
};

// The faulty lines in a report, with their numbers.
using Faulty = std::vector<std::pair<std::size_t, std::string>>;

bool is_text(const Report& report) {
    const auto fine = [](const TextFound& found) { return found.position == Position{}; };
    return std::all_of(report.text.begin(), report.text.end(), fine);
}

// Everything in a report, with lines numbered in the file; if the input is not text, nothing else
// matters.
std::pair<Facts, Faulty> facts_of(const Report& report) {
    Facts all = {report.bytes};
    for (const TextFound& found : report.text) {
        const bool fine = found.position == Position{};
        all.push_back(fine ? 0 : report.line(found.position));
        all.push_back(fine ? 0 : found.byte);
    }
    Faulty faulty;
    if (!is_text(report)) return {all, faulty};
    for (const std::size_t count : {report.total_faults, report.rows}) all.push_back(count);
    all.push_back(std::bit_cast<std::uint64_t>(report.least_rank));
    for (const LineFault& fault : report.faults)
        faulty.emplace_back(report.line(fault.position), fault.text);
    return {all, faulty};
}

struct Simple {
    std::map<std::string, std::vector<std::tuple<std::int64_t, std::string, std::uint64_t>>> rows;
    std::size_t total_faults = 0, total_rows = 0;
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

bool all_digits(const std::string& cell) {
    return cell.find_first_not_of("0123456789") == std::string::npos;
}

// Read valid text line by line.
Simple read_simply(string_view text, Layout layout) {
    Simple simple;
    std::int64_t number = 0;
    while (!text.empty()) {
        const std::string line(text.substr(0, text.find('\n')));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        ++number;
        const auto cells = cells_of(line);
        const bool data = !cells.empty() && cells[0][0] != '#';
        const bool trec = layout == Layout::trec;
        const auto score = trec && cells.size() > 4 ? number_of(cells[4]) : std::nullopt;
        const bool good =
            trec ? cells.size() > 5 && score : cells.size() == 3 && all_digits(cells[2]);
        if (line.size() > longest_line || (data && !good)) {
            ++simple.total_faults;
        } else if (data) {
            ++simple.total_rows;
            simple.rows[cells[0]].emplace_back(number, cells[trec ? 2 : 1],
                                               std::bit_cast<std::uint64_t>(score.value_or(0)));
        }
    }
    return simple;
}

void check_picked(const Picked& picked, const Simple& simple) {
    for (std::size_t query = 0; query < judged_queries.size(); ++query) {
        const auto found = simple.rows.find(std::string(judged_queries[query]));
        const std::size_t begin = picked.starts[query], size = picked.starts[query + 1] - begin;
        CHECK(size == (found == simple.rows.end() ? 0 : found->second.size()));
        for (std::size_t i = 0; i < size; ++i) {
            const auto& [line, document, score] = found->second[i];
            CHECK(picked.lines[begin + i] == line);
            CHECK(picked.documents[begin + i] == document);
            if (!picked.scores.empty())
                CHECK(std::bit_cast<std::uint64_t>(picked.scores[begin + i]) == score);
        }
    }
}

// What one query's list is, faults aside.
Facts list_of(const Found& found, std::size_t task, std::size_t query) {
    const Listed& one = found.listed[task][query];
    Facts all = {one.ties, one.float32, one.in_run};
    for (const auto count : {one.retrieved, one.duplicates, one.merged})
        all.push_back(static_cast<std::uint64_t>(count));
    for (std::size_t i = one.begin; i < one.begin + one.places; ++i) {
        const Place& place = found.places[one.worker][task][i];
        for (const auto number : {place.rank, place.first, place.last, place.judgment})
            all.push_back(static_cast<std::uint64_t>(number));
        all.push_back(std::bit_cast<std::uint64_t>(place.score));
    }
    return all;
}

// The last task stands beside the first and must rank as the one before it, or else it ranks
// nothing and the first ranks as that one.
void check_beside(const Found& found) {
    const std::size_t last = found.listed.size() - 1;
    for (std::size_t query = 0; query < judged_queries.size(); ++query) {
        const bool close = found.listed[0][query].float32;
        CHECK(close || !found.listed[last][query].in_run);
        CHECK(list_of(found, close ? last : 0, query) == list_of(found, last - 1, query));
    }
}

void check(string_view text, Layout layout, const std::vector<Task>& tasks, std::size_t piece,
           std::size_t threads) {
    const auto whole = [&] { return std::make_unique<Pieces>(text, text.size()); };
    const auto pieces = [&] { return std::make_unique<Pieces>(text, piece); };
    const Pause pause = [] {};
    const TextRanked one = rank_text(whole, layout, tasks, 1, pause);
    const TextRanked other = rank_text(pieces, layout, tasks, threads, pause);
    const Picked picked = pick_rows(pieces, layout, judged(), threads, pause);
    if (one.report.shortened || other.report.shortened || picked.report.shortened) {
        CHECK(!one.found && !other.found);  // Python reads it instead
        return;
    }
    CHECK(facts_of(one.report) == facts_of(other.report));
    CHECK(!one.found == !other.found);
    if (one.found) CHECK(facts_of(*one.found) == facts_of(*other.found));
    if (one.found) check_beside(*one.found);
    CHECK(facts_of(picked.report) == facts_of(one.report));
    if (!is_text(one.report)) return;
    const Simple simple =
        read_simply(text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text, layout);
    CHECK(simple.total_faults == one.report.total_faults);
    CHECK(simple.total_rows == one.report.rows);
    if (one.found) check_picked(picked, simple);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    string_view text(reinterpret_cast<const char*>(data), size);
    Choices choices(text);
    const auto layout = static_cast<Layout>(choices.below(2));
    const std::size_t piece = choices.below(100) + 1, threads = choices.below(4) + 1;
    std::vector<Protocol> protocols = {some_protocol(choices), some_protocol(choices)};
    protocols.push_back(protocols[0]);
    protocols[2].single = !protocols[0].single;
    protocols.push_back(protocols[2]);
    protocols[3].beside = 0;
    std::vector<Task> tasks;
    for (const Protocol& protocol : protocols) tasks.push_back({&judged(), &protocol});
    check(text, layout, tasks, piece, threads);
    return 0;
}
