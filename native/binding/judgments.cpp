#include "binding/judgments.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "text/json.hpp"

namespace idealist {

namespace {

using namespace nb::literals;

nb::tuple texts(const std::vector<string_view>& ids) {
    PyObject* made = PyTuple_New(static_cast<Py_ssize_t>(ids.size()));
    if (!made) throw nb::python_error();
    const nb::tuple whole = nb::steal<nb::tuple>(made);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        PyObject* id =
            PyUnicode_FromStringAndSize(ids[i].data(), static_cast<Py_ssize_t>(ids[i].size()));
        if (!id || PyTuple_SetItem(made, static_cast<Py_ssize_t>(i), id) != 0)
            throw nb::python_error();
    }
    return whole;
}

template <typename Number>
nb::bytes bytes_of(const std::vector<Number>& numbers) {
    return nb::bytes(reinterpret_cast<const char*>(numbers.data()),
                     numbers.size() * sizeof(Number));
}

// What a number is written as, which Python says once for each.
class Written {
  public:
    explicit Written(const nb::callable& text) : text_(text) {}

    const std::string& operator()(double number) {
        const auto bits = std::bit_cast<std::uint64_t>(number);
        if (last_ && bits == bits_) return *last_;
        const auto [found, is_new] = known_.try_emplace(bits);
        if (is_new) {
            const nb::object made = text_(number);
            add_json(found->second, text_of(made.ptr()));
        }
        bits_ = bits;
        return *(last_ = &found->second);
    }

  private:
    const nb::callable& text_;
    std::unordered_map<std::uint64_t, std::string> known_;
    std::uint64_t bits_ = 0;
    const std::string* last_ = nullptr;
};

// The rows of some queries as lines of JSON: of each query its name and size, then its pairs with
// what the grades are written as.
nb::bytes lines_of(const Pairs& pairs, nb::handle grades, const nb::callable& text,
                   std::size_t begin, std::size_t end) {
    const Judgments& table = pairs.table();
    const Column<double> column(grades);
    if (column.size() != table.documents.size() || end > table.queries.size())
        throw nb::value_error("one grade for each pair, and queries that there are");
    Written written(text);
    std::string lines, query;
    for (std::size_t i = begin; i < end; ++i) {
        const auto first = static_cast<std::size_t>(table.starts[i]),
                   last = static_cast<std::size_t>(table.starts[i + 1]);
        query = "[";
        add_json(query, table.queries[i]);
        query += ", ";
        lines += query + "\"" + std::to_string(last - first) + "\"]\n";
        for (std::size_t pair = first; pair < last; ++pair) {
            lines += query;
            add_json(lines, table.documents[pair]);
            lines += ", ";
            lines += written(column.data()[pair]);
            lines += "]\n";
        }
    }
    return nb::bytes(lines.data(), lines.size());
}

// The pairs of tables that Python has made.
void make_pairs(Pairs* made, const nb::tuple& queries, nb::handle starts,
                const nb::tuple& documents) {
    Judgments table;
    for (const nb::handle id : queries) table.queries.push_back(text_of(id.ptr()));
    table.documents.reserve(documents.size());
    for (const nb::handle id : documents) table.documents.push_back(text_of(id.ptr()));
    const Column<std::int64_t> column(starts);
    table.starts.assign(column.data(), column.data() + column.size());
    if (column.size() != queries.size() + 1 || table.starts.front() != 0 ||
        !std::is_sorted(table.starts.begin(), table.starts.end()) ||
        static_cast<std::size_t>(table.starts.back()) != documents.size())
        throw nb::value_error("one start for each query, and the end");
    new (made)
        Pairs(std::move(table), std::make_shared<nb::tuple>(nb::make_tuple(queries, documents)));
}

// Read a dict of dicts of numbers, whose ids are copied: Python may change it later.
nb::object judgments_of_dict(const nb::dict& data) {
    const auto arena = std::make_shared<Arena>();
    JudgmentRows rows;
    PyObject *query, *entries, *document, *grade;
    for (Py_ssize_t i = 0; PyDict_Next(data.ptr(), &i, &query, &entries);) {
        require(Py_TYPE(query) == &PyUnicode_Type && Py_TYPE(entries) == &PyDict_Type &&
                PyDict_Size(entries) > 0);
        const string_view name = arena->copy(plain_text(query));
        for (Py_ssize_t j = 0; PyDict_Next(entries, &j, &document, &grade);) {
            require(Py_TYPE(document) == &PyUnicode_Type);
            rows.add(name, arena->copy(plain_text(document)), number_of_object(grade));
        }
    }
    return pairs_of(rows.sorted(), arena);
}

}  // namespace

const Judged& Pairs::judged() {
    if (!judged_) judged_.emplace(judgments_.queries, judgments_.starts, judgments_.documents);
    return *judged_;
}

nb::object pairs_of(Judgments judgments, std::shared_ptr<const void> kept) {
    const nb::bytes grades = bytes_of(judgments.grades);
    judgments.grades = {};
    const std::size_t repeats = judgments.repeats;
    auto made = std::make_unique<Pairs>(std::move(judgments), std::move(kept));
    return nb::make_tuple(nb::cast(made.release(), nb::rv_policy::take_ownership), grades, repeats);
}

void bind_judgments(nb::module_& module) {
    nb::class_<Pairs>(module, "Pairs")
        .def("__init__", &make_pairs, "queries"_a, "starts"_a, "documents"_a)
        .def("__len__", [](const Pairs& pairs) { return pairs.table().documents.size(); })
        .def("queries", [](const Pairs& pairs) { return texts(pairs.table().queries); })
        .def("starts", [](const Pairs& pairs) { return bytes_of(pairs.table().starts); })
        .def("documents", [](const Pairs& pairs) { return texts(pairs.table().documents); })
        .def("judged", &Pairs::judged, nb::rv_policy::reference_internal)
        .def("lines", &lines_of, "grades"_a, "text"_a, "begin"_a, "end"_a);
    module.def(
        "read_judgment_dict",
        [](const nb::dict& data) -> nb::object {
            return unless_declined([&] { return judgments_of_dict(data); });
        },
        "data"_a);
    module.def(
        "read_qrels",
        [](const nb::bytes& text) -> nb::object {
            return unless_declined([&] {
                const string_view bytes(text.c_str(), text.size());
                Judgments read;
                {
                    const nb::gil_scoped_release released;
                    read = read_qrels(bytes);
                }
                return pairs_of(std::move(read), std::make_shared<nb::bytes>(text));
            });
        },
        "text"_a);
}

}  // namespace idealist
