// Objects: what all entry points of the kernel share in taking and returning Python objects.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "base/declined.hpp"
#include "ranking/ranker.hpp"

namespace idealist {

namespace nb = nanobind;

// The UTF-8 text of a str, owned by the object.
string_view text_of(PyObject* text);

// The same for an id, which must be plain text.
string_view plain_text(PyObject* id);

// An id as exact text: a str, or the digits of an int; anything else is declined.
string_view id_of(PyObject* id, Arena& arena);

// A number: a float, an int, or a NumPy float; anything else is declined.
double number_of_object(PyObject* object);

// A contiguous column of float64 or int64; null and empty if it is None.
template <typename Number>
class Column {
  public:
    explicit Column(nb::handle array) {
        if (array.is_none()) return;
        if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_CONTIG_RO | PyBUF_FORMAT) != 0)
            throw nb::python_error();
        held_ = true;
        if (view_.itemsize != sizeof(Number) || view_.ndim != 1)
            throw nb::type_error("a column must be an array of one dimension and 8 bytes a number");
    }
    Column(const Column&) = delete;
    ~Column() {
        if (held_) PyBuffer_Release(&view_);
    }

    const Number* data() const { return held_ ? static_cast<const Number*>(view_.buf) : nullptr; }
    std::size_t size() const {
        return held_ ? static_cast<std::size_t>(view_.len) / sizeof(Number) : 0;
    }

  private:
    Py_buffer view_{};
    bool held_ = false;
};

// Tasks from lists of judgments and protocols, one of each per task.
class Tasks {
  public:
    Tasks(const nb::list& judged, const nb::list& protocols);

    const std::vector<Task>& all() const { return tasks_; }
    const Judged& judged() const { return *tasks_.front().judged; }
    std::size_t queries() const { return judged().queries(); }

  private:
    std::vector<Task> tasks_;
};

// What was found, as bytes for NumPy: for each task, the counts and flags of each query, and the
// places with their scores.
nb::list columns_of(const Found& found);

// What Python calls the numbers of rows.
using NumberNames = std::array<const char*, 3>;
constexpr NumberNames names_of_numbers = {"scores", "ranks", "tokens"};

// The result of the work, or None if it was declined.
template <typename Work>
nb::object unless_declined(const Work& work) {
    try {
        return work();
    } catch (const Declined&) {
        return nb::none();
    }
}

// Let Ctrl-C stop the work.
void check_signals();

void bind_tables(nb::module_& module);
void bind_text(nb::module_& module);
void bind_dict(nb::module_& module);
void bind_rows(nb::module_& module);
void bind_lists(nb::module_& module);
void bind_columns(nb::module_& module);
void bind_judgments(nb::module_& module);

}  // namespace idealist
