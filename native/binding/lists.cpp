// Ranked lists as bytes: what several runs found is joined, ranked by other scores, and written.
#include "fusing/lists.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <utility>

#include "base/team.hpp"
#include "binding/objects.hpp"

namespace idealist {

namespace {

using namespace nb::literals;

// Whether places in a column rise to at most `most`, from `begin` to the one after `end`.
bool rise(const Column<std::int64_t>& column, std::size_t begin, std::size_t end,
          std::size_t most) {
    const std::int64_t *from = column.data() + begin, *to = column.data() + end;
    return *from >= 0 && static_cast<std::size_t>(*to) <= most && std::is_sorted(from, to + 1);
}

// The lists of a run, from (starts, ends, text, scores), held for as long as this lives.
class Given {
  public:
    explicit Given(const nb::tuple& lists)
        : starts_(column(lists, 0)),
          ends_(column(lists, 1)),
          text_(nb::cast<nb::bytes>(column(lists, 2))),
          scores_(column(lists, 3)) {
        if (starts_.size() == 0 || ends_.size() != scores_.size() + 1) refuse();
    }

    std::size_t queries() const { return starts_.size() - 1; }

    // The lists, those of some queries checked.
    Lists lists(std::size_t first, std::size_t last) const {
        if (first > last || last > queries() || !rise(starts_, first, last, scores_.size()) ||
            !rise(ends_, static_cast<std::size_t>(starts_.data()[first]),
                  static_cast<std::size_t>(starts_.data()[last]), text_.size()))
            refuse();
        return {starts_.data(), ends_.data(), text_.c_str(), scores_.data()};
    }
    Lists lists() const { return lists(0, queries()); }

  private:
    static nb::object column(const nb::tuple& lists, std::size_t i) {
        if (lists.size() != 4) refuse();
        return lists[i];
    }
    [[noreturn]] static void refuse() { throw nb::value_error("the lists do not fit each other"); }

    Column<std::int64_t> starts_, ends_;
    nb::bytes text_;
    Column<double> scores_;
};

template <typename Number>
nb::bytes bytes_of(const std::vector<Number>& numbers) {
    return nb::bytes(reinterpret_cast<const char*>(numbers.data()),
                     numbers.size() * sizeof(Number));
}

nb::tuple merge_lists(const nb::list& runs, std::size_t first, std::size_t last) {
    std::deque<Given> given;
    std::vector<Lists> lists;
    for (const nb::handle run : runs) {
        given.emplace_back(nb::cast<nb::tuple>(run));
        lists.push_back(given.back().lists(first, last));
    }
    if (lists.empty()) throw nb::value_error("give at least one run");
    Merged found;
    {
        const nb::gil_scoped_release released;
        found = merge(lists, first, last);
    }
    return nb::make_tuple(bytes_of(found.starts), bytes_of(found.ends),
                          nb::bytes(found.text.data(), found.text.size()), bytes_of(found.lists),
                          bytes_of(found.documents), bytes_of(found.scores));
}

// Rank lists in which no document comes twice.
nb::list rank_lists(const nb::tuple& queries, const nb::tuple& given, const nb::list& judged,
                    const nb::list& protocols, std::size_t threads) {
    const Tasks tasks(judged, protocols);
    for (const Task& task : tasks.all())
        if (task.protocol->order == Protocol::Order::rank || task.protocol->in_tokens)
            throw nb::value_error("lists have neither ranks nor lengths");
    const Given held(given);
    if (held.queries() != queries.size()) throw nb::value_error("one list for each query");
    const Lists lists = held.lists();
    std::vector<std::int64_t> numbers;
    std::vector<char> met(tasks.queries());
    for (const nb::handle query : queries) {
        numbers.push_back(tasks.judged().find_query(text_of(query.ptr())));
        if (numbers.back() != Judged::none &&
            std::exchange(met[static_cast<std::size_t>(numbers.back())], true))
            throw nb::value_error("a query comes twice");
    }
    Team team(threads);
    Found found(tasks.all().size(), tasks.queries(), team.size());
    {
        const nb::gil_scoped_release released;
        std::atomic<std::size_t> next = 0;
        team.run([&](std::size_t worker) {
            Ranker ranker(tasks.all(), found, worker);
            std::vector<string_view> ids;
            for (std::size_t i; !team.stopped() && (i = next++) < numbers.size();) {
                if (numbers[i] == Judged::none) continue;
                ids.clear();
                for (std::int64_t at = lists.starts[i]; at < lists.starts[i + 1]; ++at)
                    ids.push_back(lists.id(at));
                ranker.place(static_cast<std::size_t>(numbers[i]),
                             {ids.data(), ids.size(), lists.scores + lists.starts[i], nullptr,
                              nullptr, true});
                if (worker == 0 && i % 64 == 63) check_signals();
            }
        });
    }
    return columns_of(found);
}

// None if an id cannot stand in such a line.
nb::object lines_of_lists(const nb::tuple& queries, const nb::tuple& given,
                          const std::string& tag) {
    const Given held(given);
    if (held.queries() != queries.size()) throw nb::value_error("one list for each query");
    std::vector<string_view> names;
    for (const nb::handle query : queries) names.push_back(text_of(query.ptr()));
    std::string text;
    return unless_declined([&]() -> nb::object {
        {
            const nb::gil_scoped_release released;
            text = trec_lines(names, held.lists(), tag);
        }
        return nb::bytes(text.data(), text.size());
    });
}

}  // namespace

void bind_lists(nb::module_& module) {
    module.def("merge_lists", &merge_lists, "runs"_a, "first"_a, "last"_a);
    module.def("rank_lists", &rank_lists, "queries"_a, "lists"_a, "judged"_a, "protocols"_a,
               "threads"_a);
    module.def("lines_of_lists", &lines_of_lists, "queries"_a, "lists"_a, "tag"_a);
}

}  // namespace idealist
