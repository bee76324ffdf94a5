#include "binding/objects.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <string>

namespace idealist {

namespace {

using namespace nb::literals;

template <typename Value>
Value chosen(const std::map<std::string, Value>& values, const std::string& name) {
    const auto found = values.find(name);
    if (found == values.end()) throw nb::value_error(("the kernel has no rule " + name).c_str());
    return found->second;
}

// Ask Python which document each chunk belongs to.
Whole whole_of(const nb::object& function) {
    if (function.is_none()) return {};
    const auto held = std::shared_ptr<nb::object>(new nb::object(function), [](nb::object* object) {
        const nb::gil_scoped_acquire gil;
        delete object;
    });
    return [held](const std::vector<string_view>& chunks, Arena& arena,
                  std::vector<string_view>& documents) {
        const nb::gil_scoped_acquire gil;
        nb::list names;
        for (const string_view chunk : chunks) names.append(nb::str(chunk.data(), chunk.size()));
        const nb::list whole = nb::cast<nb::list>((*held)(names));
        for (const nb::handle name : whole) documents.push_back(arena.copy(text_of(name.ptr())));
        if (documents.size() != chunks.size()) throw nb::value_error("a document for each chunk");
    };
}

Protocol protocol_of(bool single, const std::string& order, const std::string& ties,
                     const std::string& seed, const std::string& duplicates,
                     const std::string& nonfinite, double budget, bool in_tokens, bool exclude_self,
                     int beside, const nb::object& whole, std::size_t named) {
    using Ties = Protocol::Ties;
    Protocol made;
    made.single = single;
    made.order = chosen<Protocol::Order>({{"score", Protocol::Order::score},
                                          {"rank", Protocol::Order::rank},
                                          {"given", Protocol::Order::given}},
                                         order);
    // Ties that are ordered by grade, or not at all, are first put in docid-desc order.
    made.ties = chosen<Ties>({{"docid-desc", Ties::descending},
                              {"worst", Ties::descending},
                              {"best", Ties::descending},
                              {"expected", Ties::descending},
                              {"error", Ties::descending},
                              {"docid-asc", Ties::ascending},
                              {"input", Ties::input},
                              {"input-reversed", Ties::reversed},
                              {"random", Ties::random}},
                             ties);
    made.refuse_ties = ties == "error";
    made.seed = seed;
    made.duplicates = chosen<Protocol::Duplicates>({{"error", Protocol::Duplicates::error},
                                                    {"first", Protocol::Duplicates::first},
                                                    {"last", Protocol::Duplicates::last}},
                                                   duplicates);
    made.nonfinite = chosen<Protocol::Nonfinite>({{"error", Protocol::Nonfinite::error},
                                                  {"as_is", Protocol::Nonfinite::as_is},
                                                  {"last", Protocol::Nonfinite::last}},
                                                 nonfinite);
    made.budget = budget;
    made.in_tokens = in_tokens;
    made.exclude_self = exclude_self;
    made.beside = beside;
    made.whole = whole_of(whole);
    made.named = named;
    return made;
}

std::vector<string_view> texts_of(const nb::tuple& ids) {
    std::vector<string_view> texts;
    texts.reserve(ids.size());
    for (const nb::handle id : ids) texts.push_back(text_of(id.ptr()));
    return texts;
}

// A new bytes object, and where to write its contents.
template <typename Number>
std::pair<nb::object, Number*> fresh(std::size_t count) {
    PyObject* made =
        PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(count * sizeof(Number)));
    if (!made) throw nb::python_error();
    return {nb::steal(made), reinterpret_cast<Number*>(PyBytes_AsString(made))};
}

nb::object counts_of(const std::vector<Listed>& listed) {
    const std::size_t size = listed.size();
    auto [made, counts] = fresh<std::int64_t>(4 * size);
    for (std::size_t i = 0; i < size; ++i) {
        counts[i] = listed[i].retrieved;
        counts[size + i] = listed[i].duplicates;
        counts[2 * size + i] = listed[i].merged;
        counts[3 * size + i] = listed[i].faults;
    }
    return made;
}

nb::object flags_of(const std::vector<Listed>& listed) {
    const std::size_t size = listed.size();
    auto [made, flags] = fresh<char>(3 * size);
    for (std::size_t i = 0; i < size; ++i) {
        flags[i] = listed[i].in_run;
        flags[size + i] = listed[i].ties;
        flags[2 * size + i] = listed[i].float32;
    }
    return made;
}

// The names of unjudged documents: where each query's begin, where each ends, the text, and the
// scores.
nb::tuple names_of(const Found& found, std::size_t task) {
    const std::vector<Listed>& listed = found.listed[task];
    const auto names = [&](const Listed& one) -> const Unjudged& {
        return found.names[one.worker][task];
    };
    const auto begin = [&](const Listed& one) {
        return one.names_begin ? names(one).ends[one.names_begin - 1] : 0;
    };
    std::size_t count = 0, size = 0;
    for (const Listed& one : listed) {
        if (!one.names) continue;
        count += one.names;
        size += names(one).ends[one.names_begin + one.names - 1] - begin(one);
    }
    auto [starts, start] = fresh<std::int64_t>(listed.size() + 1);
    auto [ends, end] = fresh<std::int64_t>(count + 1);
    auto [text, byte] = fresh<char>(size);
    auto [scores, score] = fresh<double>(count);
    std::int64_t written = 0;
    *start = *end = 0;
    for (const Listed& one : listed) {
        start[1] = start[0] + static_cast<std::int64_t>(one.names);
        ++start;
        if (!one.names) continue;
        const std::size_t from = begin(one);
        for (std::size_t i = 0; i < one.names; ++i)
            *++end =
                written + static_cast<std::int64_t>(names(one).ends[one.names_begin + i] - from);
        const auto length = static_cast<std::size_t>(*end - written);
        std::memcpy(byte + written, names(one).text.data() + from, length);
        written = *end;
        score = std::copy_n(names(one).scores.data() + one.names_begin, one.names, score);
    }
    return nb::make_tuple(starts, ends, text, scores);
}

nb::tuple columns_of(const Found& found, std::size_t task) {
    const std::vector<Listed>& listed = found.listed[task];
    std::size_t size = 0;
    for (const Listed& one : listed) size += one.places;
    auto [places, place] = fresh<std::int64_t>(5 * size);
    auto [scores, score] = fresh<double>(size);
    std::size_t at = 0;
    for (std::size_t query = 0; query < listed.size(); ++query) {
        const Place* from = found.places[listed[query].worker][task].data() + listed[query].begin;
        for (std::size_t i = 0; i < listed[query].places; ++i, ++from, ++at) {
            place[at] = static_cast<std::int64_t>(query);
            place[size + at] = from->rank;
            place[2 * size + at] = from->first;
            place[3 * size + at] = from->last;
            place[4 * size + at] = from->judgment;
            score[at] = from->score;
        }
    }
    return nb::make_tuple(counts_of(listed), flags_of(listed), places, scores,
                          names_of(found, task));
}

}  // namespace

string_view text_of(PyObject* text) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text, &size);
    if (!data) throw nb::python_error();
    return {data, static_cast<std::size_t>(size)};
}

string_view plain_text(PyObject* id) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(id, &size);
    if (!data) PyErr_Clear();  // a lone surrogate
    require(data && size > 0);
    return {data, static_cast<std::size_t>(size)};
}

string_view id_of(PyObject* id, Arena& arena) {
    require(id != nullptr);
    if (Py_TYPE(id) == &PyUnicode_Type) return arena.copy(plain_text(id));
    require(Py_TYPE(id) == &PyLong_Type);
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(id, &overflow);
    require(!overflow);
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    return arena.copy({digits, static_cast<std::size_t>(end - digits)});
}

Tasks::Tasks(const nb::list& judged, const nb::list& protocols) {
    if (judged.size() == 0 || judged.size() != protocols.size())
        throw nb::value_error("give judgments for each protocol");
    for (std::size_t i = 0; i < judged.size(); ++i)
        tasks_.push_back(
            {nb::cast<const Judged*>(judged[i]), nb::cast<const Protocol*>(protocols[i])});
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
        if (tasks_[i].judged->queries() != queries())
            throw nb::value_error("all judge the same queries");
        if (tasks_[i].protocol->beside >= static_cast<int>(i))
            throw nb::value_error("a protocol stands beside one that comes before it");
    }
}

nb::list columns_of(const Found& found) {
    nb::list columns;
    for (std::size_t task = 0; task < found.listed.size(); ++task)
        columns.append(columns_of(found, task));
    return columns;
}

void check_signals() {
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void bind_tables(nb::module_& module) {
    nb::class_<Judged>(module, "Judged")
        .def(
            "__init__",
            [](Judged* made, const nb::tuple& queries, nb::handle starts,
               const nb::tuple& documents) {
                const Column<std::int64_t> column(starts);
                if (column.size() != queries.size() + 1)
                    throw nb::value_error("one start for each query, and the end");
                new (made)
                    Judged(texts_of(queries), {column.data(), column.size()}, texts_of(documents));
            },
            "queries"_a, "starts"_a, "documents"_a);
    nb::class_<Protocol>(module, "Protocol")
        .def(
            "__init__",
            [](Protocol* made, bool single, const std::string& order, const std::string& ties,
               const std::string& seed, const std::string& duplicates, const std::string& nonfinite,
               double budget, bool in_tokens, bool exclude_self, int beside,
               const nb::object& whole, std::size_t named) {
                new (made)
                    Protocol(protocol_of(single, order, ties, seed, duplicates, nonfinite, budget,
                                         in_tokens, exclude_self, beside, whole, named));
            },
            nb::kw_only(), "single"_a, "order"_a, "ties"_a, "seed"_a, "duplicates"_a, "nonfinite"_a,
            "budget"_a, "in_tokens"_a, "exclude_self"_a, "beside"_a, "whole"_a.none(),
            "named"_a = 0);
}

}  // namespace idealist
