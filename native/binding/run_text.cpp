// A run in text: ranked, or some rows picked from it.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "binding/judgments.hpp"
#include "binding/objects.hpp"
#include "run_text/ranked_text.hpp"

namespace idealist {

namespace {

using namespace nb::literals;

// Blocks of bytes that Python hands over one by one, such as those of a compressed file.
class Blocks : public Input {
  public:
    explicit Blocks(nb::object iterator) : iterator_(std::move(iterator)) {}
    ~Blocks() override {
        const nb::gil_scoped_acquire gil;
        iterator_.reset();
        block_.reset();
    }

    std::size_t read(char* into, std::size_t size) override {
        while (left_.empty()) {
            if (!next()) return 0;
        }
        const std::size_t count = std::min(size, left_.size());
        std::memcpy(into, left_.data(), count);
        left_.remove_prefix(count);
        return count;
    }

  private:
    bool next() {
        const nb::gil_scoped_acquire gil;
        PyObject* made = PyIter_Next(iterator_.ptr());
        if (!made && PyErr_Occurred()) throw nb::python_error();
        if (!made) return false;
        block_ = nb::cast<nb::bytes>(nb::steal(made));
        left_ = {block_.c_str(), block_.size()};
        return true;
    }

    nb::object iterator_;
    nb::bytes block_;
    string_view left_;
};

// Python gives a file descriptor at the start of its file, or an iterator of bytes.
Open opening(const nb::callable& begin) {
    return [begin = begin.ptr()]() -> std::unique_ptr<Input> {
        const nb::gil_scoped_acquire gil;
        nb::object source = nb::borrow<nb::callable>(begin)();
        if (nb::isinstance<nb::int_>(source))
            return std::make_unique<Descriptor>(nb::cast<int>(source));
        return std::make_unique<Blocks>(nb::iter(source));
    };
}

template <typename Value>
Value chosen(string_view name, std::initializer_list<std::pair<string_view, Value>> values) {
    for (const auto& [known, value] : values)
        if (known == name) return value;
    throw nb::value_error(("the kernel reads no " + std::string(name)).c_str());
}

// Fields are pairs of a name and what it holds.
std::vector<Field> fields_of(const nb::list& pairs) {
    using Role = Field::Role;
    std::vector<Field> fields;
    for (const nb::handle pair : pairs) {
        const Role role =
            chosen<Role>(text_of(nb::object(pair[1]).ptr()), {{"query", Role::query},
                                                              {"document", Role::document},
                                                              {"score", Role::score},
                                                              {"rank", Role::rank},
                                                              {"tokens", Role::tokens},
                                                              {"list", Role::list},
                                                              {"required", Role::required},
                                                              {"", Role::other}});
        fields.push_back({std::string(text_of(nb::object(pair[0]).ptr())), role});
    }
    return fields;
}

void make_layout(Layout* made, const std::string& kind, const nb::list& fields, std::size_t header,
                 char separator, bool decimal_comma, bool skip_blanks, const std::string& items,
                 const nb::list& item_fields) {
    using Kind = Layout::Kind;
    using Items = Layout::Items;
    new (made) Layout{
        chosen<Kind>(kind, {{"trec", Kind::trec},
                            {"msmarco", Kind::msmarco},
                            {"delimited", Kind::delimited},
                            {"hits", Kind::hits},
                            {"lists", Kind::lists}}),
        fields_of(fields),
        header,
        separator,
        decimal_comma,
        skip_blanks,
        chosen<Items>(items,
                      {{"ids", Items::ids}, {"pairs", Items::pairs}, {"objects", Items::objects}}),
        fields_of(item_fields)};
}

nb::list lines_of(const Report& report) {
    nb::list lines;
    for (const LineFault& fault : report.faults)
        lines.append(nb::make_tuple(report.line(fault.position),
                                    nb::bytes(fault.text.data(), fault.text.size())));
    return lines;
}

nb::list text_faults_of(const Report& report) {
    constexpr const char* kinds[] = {"binary", "cr", "utf8"};
    nb::list found;
    for (std::size_t kind = 0; kind < report.text.size(); ++kind)
        if (const TextFound& one = report.text[kind]; one.position != Position{})
            found.append(nb::make_tuple(kinds[kind], report.line(one.position), one.byte));
    return found;
}

// Work on an input; an error of the system becomes Python's OSError.
template <typename Work>
auto reading(const nb::callable& begin, Work work) {
    const Open open = opening(begin);
    try {
        const nb::gil_scoped_release released;
        return work(open);
    } catch (const std::system_error& error) {
        errno = error.code().value();
        PyErr_SetFromErrno(PyExc_OSError);
        throw nb::python_error();
    }
}

nb::dict report_of(const Report& report) {
    nb::dict made;
    made["rows"] = report.rows;
    made["bytes"] = report.bytes;
    made["shortened"] = report.shortened;
    made["text"] = text_faults_of(report);
    made["lines"] = lines_of(report);
    made["faults"] = report.total_faults;
    made["least_rank"] = report.least_rank;
    made["empty"] = report.empty;
    return made;
}

template <typename Number>
nb::bytes bytes_of(const std::vector<Number>& numbers) {
    return nb::bytes(reinterpret_cast<const char*>(numbers.data()),
                     numbers.size() * sizeof(Number));
}

}  // namespace

void bind_text(nb::module_& module) {
    nb::class_<Layout>(module, "Layout")
        .def("__init__", make_layout, "kind"_a, "fields"_a = nb::list(), "header"_a = 0,
             "separator"_a = ',', "decimal_comma"_a = false, "skip_blanks"_a = false,
             "items"_a = "ids", "item_fields"_a = nb::list());
    module.def(
        "rank_text",
        [](const nb::callable& begin, const Layout& layout, const nb::list& judged,
           const nb::list& protocols, std::size_t threads) {
            const Tasks tasks(judged, protocols);
            return unless_declined([&] {
                const TextRanked ranked = reading(begin, [&](const Open& open) {
                    return rank_text(open, layout, tasks.all(), threads, check_signals);
                });
                nb::dict made = report_of(ranked.report);
                if (ranked.found) {
                    made["columns"] = columns_of(*ranked.found);
                    made["unknown"] = nb::cast(ranked.unknown);
                }
                return made;
            });
        },
        "begin"_a, "layout"_a, "judged"_a, "protocols"_a, "threads"_a);
    module.def(
        "read_judged_text",
        [](const nb::callable& begin, const Layout& layout) {
            return unless_declined([&] {
                const auto ids = std::make_shared<Arena>();
                return pairs_of(reading(begin,
                                        [&](const Open& open) {
                                            return read_judgments(open, layout, *ids,
                                                                  check_signals);
                                        }),
                                ids);
            });
        },
        "begin"_a, "layout"_a);
    module.def(
        "pick_rows",
        [](const nb::callable& begin, const Layout& layout, const Judged& queries,
           std::size_t threads) {
            return unless_declined([&] {
                const Picked picked = reading(begin, [&](const Open& open) {
                    return pick_rows(open, layout, queries, threads, check_signals);
                });
                nb::dict made = report_of(picked.report);
                made["starts"] = bytes_of(picked.starts);
                made["documents"] = nb::cast(picked.documents);
                for (std::size_t i = 0; i < picked.numbers.size(); ++i)
                    if (layout.numbers()[i])
                        made[names_of_numbers[i]] = bytes_of(picked.numbers[i]);
                made["lines_of_rows"] = bytes_of(picked.lines);
                return made;
            });
        },
        "begin"_a, "layout"_a, "queries"_a, "threads"_a);
}

}  // namespace idealist
