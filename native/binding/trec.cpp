// TREC text: ranked, or some rows picked from it.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "binding/objects.hpp"
#include "trec/ranked_text.hpp"

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

Layout layout_of(bool msmarco) {
    return msmarco ? Layout::msmarco : Layout::trec;
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
    return made;
}

template <typename Number>
nb::bytes bytes_of(const std::vector<Number>& numbers) {
    return nb::bytes(reinterpret_cast<const char*>(numbers.data()),
                     numbers.size() * sizeof(Number));
}

}  // namespace

void bind_text(nb::module_& module) {
    module.def(
        "rank_text",
        [](const nb::callable& begin, bool msmarco, const nb::list& judged,
           const nb::list& protocols, std::size_t threads) {
            const Tasks tasks(judged, protocols);
            const TextRanked ranked = reading(begin, [&](const Open& open) {
                return rank_text(open, layout_of(msmarco), tasks.all(), threads, check_signals);
            });
            nb::dict made = report_of(ranked.report);
            if (ranked.found) {
                made["columns"] = columns_of(*ranked.found);
                made["unknown"] = nb::cast(ranked.unknown);
            }
            return made;
        },
        "begin"_a, "msmarco"_a, "judged"_a, "protocols"_a, "threads"_a);
    module.def(
        "pick_rows",
        [](const nb::callable& begin, bool msmarco, const Judged& queries, std::size_t threads) {
            const Picked picked = reading(begin, [&](const Open& open) {
                return pick_rows(open, layout_of(msmarco), queries, threads, check_signals);
            });
            nb::dict made = report_of(picked.report);
            made["starts"] = bytes_of(picked.starts);
            made["documents"] = nb::cast(picked.documents);
            made["scores"] = bytes_of(picked.scores);
            made["ranks"] = bytes_of(picked.ranks);
            made["lines_of_rows"] = bytes_of(picked.lines);
            return made;
        },
        "begin"_a, "msmarco"_a, "queries"_a, "threads"_a);
}

}  // namespace idealist
