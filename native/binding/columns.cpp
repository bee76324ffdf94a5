// Columns: NumPy arrays and Arrow streams.
#include <array>
#include <deque>
#include <span>

#include "binding/judgments.hpp"
#include "binding/numpy.hpp"
#include "binding/objects.hpp"
#include "columns/arrow.hpp"
#include "columns/judgments.hpp"

namespace idealist {

namespace {

using namespace nb::literals;

using Names = std::array<const char*, 3>;  // of the columns that are numbers
constexpr Names names_of_numbers = {"scores", "ranks", "tokens"};

// Columns by role, each a NumPy array or, for a column of an Arrow table, (table, number).
class Given {
  public:
    explicit Given(const nb::dict& columns, const Names& names = names_of_numbers) {
        made_.query = ids(columns["query"]);
        made_.document = ids(columns["document"]);
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (!names[i] || !columns.contains(names[i])) continue;
            made_.numbers[i] = numbers(columns[names[i]]);
            require(!made_.numbers[i].parts.empty());
        }
    }

    const Columns& columns() const { return made_; }
    Arena& arena() { return arena_; }  // for ids that the columns do not hold as text

  private:
    Parts<Ids> ids(const nb::object& column) {
        if (const ArrowTable* table = table_of(column))
            return table->ids(nb::cast<std::size_t>(column[1]));
        return buffers_.emplace_back(column).ids();
    }

    Parts<Numbers> numbers(const nb::object& column) {
        if (const ArrowTable* table = table_of(column))
            return table->numbers(nb::cast<std::size_t>(column[1]));
        return buffers_.emplace_back(column).numbers();
    }

    ArrowTable* table_of(const nb::object& column) {
        if (!nb::isinstance<nb::tuple>(column)) return nullptr;
        held_.push_back(column);
        return nb::cast<ArrowTable*>(column[0]);
    }

    std::vector<nb::object> held_;
    std::deque<Buffer> buffers_;
    Columns made_;
    Arena arena_;
};

template <typename Texts>
nb::list list_of(const Texts& texts) {
    nb::list made;
    for (const auto& text : texts) made.append(nb::str(text.data(), text.size()));
    return made;
}

nb::tuple rank_columns(const nb::dict& columns, const Tasks& tasks, std::size_t threads) {
    const Given given(columns);
    Found found(tasks.all().size(), tasks.queries(), threads);
    std::unique_ptr<Grouped> grouped;
    {
        const nb::gil_scoped_release released;
        grouped =
            std::make_unique<Grouped>(given.columns(), tasks.judged(), threads, check_signals);
        grouped->rank(tasks.all(), found, threads, check_signals);
    }
    return nb::make_tuple(columns_of(found), list_of(grouped->unknown()));
}

// The rows of some queries: how many each query has, their documents, and their numbers as bytes.
nb::tuple pick_columns(const nb::dict& columns, const Judged& queries, std::size_t threads) {
    const Given given(columns);
    std::unique_ptr<Grouped> grouped;
    {
        const nb::gil_scoped_release released;
        grouped = std::make_unique<Grouped>(given.columns(), queries, threads, check_signals);
    }
    nb::list sizes, documents;
    std::array<std::vector<double>, 3> found;
    Grouped::Gathered gathered;
    for (std::size_t query = 0; query < queries.queries(); ++query) {
        const Rows rows = gathered.rows(*grouped, query);
        sizes.append(rows.size);
        documents.extend(list_of(std::span(rows.documents, rows.size)));
        const double* from[] = {rows.scores, rows.ranks, rows.tokens};
        for (std::size_t i = 0; i < found.size(); ++i)
            if (from[i]) found[i].insert(found[i].end(), from[i], from[i] + rows.size);
    }
    nb::dict numbers;
    for (std::size_t i = 0; i < found.size(); ++i)
        if (columns.contains(names_of_numbers[i]))
            numbers[names_of_numbers[i]] = nb::bytes(reinterpret_cast<const char*>(found[i].data()),
                                                     found[i].size() * sizeof(double));
    return nb::make_tuple(sizes, documents, numbers);
}

nb::object judgments_of_columns(const nb::dict& columns) {
    const auto given = std::make_shared<Given>(columns, Names{"grades"});
    require(!given->columns().numbers[0].parts.empty());
    return pairs_of(read_judgments(given->columns(), given->arena()), given);
}

nb::object arrow_table(nb::handle capsule) {
    auto* stream =
        static_cast<ArrowStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
    if (!stream) throw nb::python_error();
    return unless_declined([&] {
        auto table = std::make_unique<ArrowTable>(*stream);
        {
            const nb::gil_scoped_release released;
            table->open();
        }
        return nb::cast(table.release(), nb::rv_policy::take_ownership);
    });
}

// Read a table; false if its stream fails. Another stream may be read only after this is closed.
bool read_table(ArrowTable& table) {
    bool whole = true;
    try {
        const nb::gil_scoped_release released;
        table.read();
    } catch (const Declined&) {
        whole = false;
    }
    table.close();
    return whole;
}

}  // namespace

void bind_columns(nb::module_& module) {
    nb::class_<ArrowTable>(module, "ArrowTable")
        .def_prop_ro("names",
                     [](const ArrowTable& table) -> nb::object {
                         if (!table.has_names()) return nb::none();
                         return list_of(table.names());
                     })
        .def_prop_ro("numeric",
                     [](const ArrowTable& table) {
                         nb::list made;
                         for (const bool numeric : table.numeric()) made.append(nb::bool_(numeric));
                         return made;
                     })
        .def("read", &read_table);
    module.def("arrow_table", &arrow_table, "capsule"_a);
    module.def(
        "rank_columns",
        [](const nb::dict& columns, const nb::list& judged, const nb::list& protocols,
           std::size_t threads) {
            const Tasks tasks(judged, protocols);
            return unless_declined([&] { return rank_columns(columns, tasks, threads); });
        },
        "columns"_a, "judged"_a, "protocols"_a, "threads"_a);
    module.def(
        "pick_columns",
        [](const nb::dict& columns, const Judged& queries, std::size_t threads) {
            return unless_declined([&] { return pick_columns(columns, queries, threads); });
        },
        "columns"_a, "queries"_a, "threads"_a);
    module.def(
        "read_judgments",
        [](const nb::dict& columns) {
            return unless_declined([&] { return judgments_of_columns(columns); });
        },
        "columns"_a);
}

}  // namespace idealist
