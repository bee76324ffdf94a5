// Rows that Python has read into columns.
#include <atomic>

#include "base/team.hpp"
#include "binding/objects.hpp"

namespace idealist {

namespace {

using namespace nb::literals;

// A run's rows; documents are a list of str.
class Table {
  public:
    Table(const nb::tuple& queries, nb::handle starts, nb::handle documents, nb::handle scores,
          nb::handle ranks, nb::handle tokens, const Tasks& tasks)
        : starts_(starts), scores_(scores), ranks_(ranks), tokens_(tokens), tasks_(tasks) {
        if (!PyList_CheckExact(documents.ptr())) throw Declined();
        const std::size_t size = static_cast<std::size_t>(PyList_Size(documents.ptr()));
        documents_.reserve(size);
        for (std::size_t i = 0; i < size; ++i)
            documents_.push_back(
                text_of(PyList_GetItem(documents.ptr(), static_cast<Py_ssize_t>(i))));
        for (std::size_t i = 0; i < queries.size(); ++i)
            queries_.push_back(tasks.judged().find_query(text_of(queries[i].ptr())));
        if (starts_.size() != queries.size() + 1 ||
            static_cast<std::size_t>(starts_.data()[queries.size()]) != size)
            throw nb::value_error("the starts do not fit the rows");
        for (const auto* column : {&scores_, &ranks_, &tokens_})
            if (column->data() && column->size() != size)
                throw nb::value_error("a column has another length");
    }

    void rank(Found& found, std::size_t threads) const {
        std::atomic<std::size_t> next = 0;
        Team team(threads);
        team.run([&](std::size_t worker) {
            Ranker ranker(tasks_.all(), found, worker);
            for (std::size_t i; !team.stopped() && (i = next++) < queries_.size();) {
                if (queries_[i] != Judged::none)
                    ranker.place(static_cast<std::size_t>(queries_[i]), rows(i));
                if (worker == 0 && i % 64 == 63) check_signals();
            }
        });
    }

  private:
    Rows rows(std::size_t i) const {
        const auto begin = static_cast<std::size_t>(starts_.data()[i]);
        const auto size = static_cast<std::size_t>(starts_.data()[i + 1]) - begin;
        const auto from = [&](const Column<double>& column) {
            return column.data() ? column.data() + begin : nullptr;
        };
        return {documents_.data() + begin, size, from(scores_), from(ranks_), from(tokens_)};
    }

    Column<std::int64_t> starts_;
    Column<double> scores_, ranks_, tokens_;
    const Tasks& tasks_;
    std::vector<string_view> documents_;
    std::vector<std::int64_t> queries_;
};

}  // namespace

void bind_rows(nb::module_& module) {
    module.def(
        "rank_rows",
        [](const nb::tuple& queries, nb::handle starts, nb::handle documents, nb::handle scores,
           nb::handle ranks, nb::handle tokens, const nb::list& judged, const nb::list& protocols,
           std::size_t threads) -> nb::object {
            const Tasks tasks(judged, protocols);
            try {
                const Table table(queries, starts, documents, scores, ranks, tokens, tasks);
                Found found(tasks.all().size(), tasks.queries(), threads);
                {
                    const nb::gil_scoped_release released;
                    table.rank(found, threads);
                }
                return columns_of(found);
            } catch (const Declined&) {
                return nb::none();
            }
        },
        "queries"_a, "starts"_a, "documents"_a, "scores"_a.none(), "ranks"_a.none(),
        "tokens"_a.none(), "judged"_a, "protocols"_a, "threads"_a);
}

}  // namespace idealist
