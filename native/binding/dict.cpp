// Dicts of dicts or lists, read in place.
#include <algorithm>
#include <array>
#include <future>
#include <unordered_set>

#include "base/sizes.hpp"
#include "binding/objects.hpp"

namespace idealist {

namespace {

using namespace nb::literals;

// Queries and their rows, on their way from Python to a ranker.
struct Batch {
    struct Group {
        std::size_t query, begin, end;
        bool distinct;
    };

    void clear() {
        arena.clear();
        documents.clear();
        scores.clear();
        groups.clear();
    }

    void rank(Ranker& ranker, bool scored) const {
        for (const Group& group : groups)
            ranker.place(group.query, {documents.data() + group.begin, group.end - group.begin,
                                       scored ? scores.data() + group.begin : nullptr, nullptr,
                                       nullptr, group.distinct});
    }

    Arena arena;
    std::vector<string_view> documents;
    std::vector<double> scores;
    std::vector<Group> groups;
};

// Whether an object has exactly this type: a subclass may do anything.
bool is_exactly(PyObject* object, PyTypeObject* type) {
    return Py_TYPE(object) == type;
}

bool is_numpy_float(PyObject* object) {
    static const std::array<PyObject*, 2> types = [] {
        const nb::module_ numpy = nb::module_::import_("numpy");
        return std::array{numpy.attr("float64").inc_ref().ptr(),
                          numpy.attr("float32").inc_ref().ptr()};
    }();
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
    return type == types[0] || type == types[1];
}

}  // namespace

double number_of_object(PyObject* object) {
    double number;
    if (is_exactly(object, &PyFloat_Type)) {
        number = PyFloat_AsDouble(object);
    } else if (is_exactly(object, &PyLong_Type)) {
        number = PyLong_AsDouble(object);
    } else if (is_numpy_float(object)) {
        number = PyFloat_AsDouble(object);
    } else {
        throw Declined();
    }
    if (number == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();  // an int too large for a float
        throw Declined();
    }
    return number;
}

namespace {

// Reads a dict of dicts or lists, and ranks what it has read while it goes on reading.
class Walk {
  public:
    Walk(nb::handle data, const Tasks& tasks, bool threads)
        : data_(data),
          tasks_(tasks),
          threads_(threads),
          found_(tasks.all().size(), tasks.queries(), 1),
          ranker_(tasks.all(), found_, 0) {}

    ~Walk() {
        const nb::gil_scoped_release released;  // the thread we wait for may need the GIL
        if (pending_.valid()) pending_.wait();
    }

    void run() {
        const Py_ssize_t size = PyDict_Size(data_.ptr());
        if (size == 0) throw Declined();
        PyObject *query, *entries;
        for (Py_ssize_t position = 0; PyDict_Next(data_.ptr(), &position, &query, &entries);) {
            const nb::object held = nb::borrow(entries);
            add(id_of(query, filling_->arena), entries);
            if (at_once_) {
                rank_at_once();
            } else if (filling_->documents.size() >= batch_rows) {
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
                hand_over();
                if (PyDict_Size(data_.ptr()) != size)
                    throw std::runtime_error("the dict changed while it was read");
            }
        }
        if (at_once_) return;  // everything has been ranked
        hand_over();
        wait();
    }

    // The columns, the queries without judgments, and whether there were lists.
    nb::tuple answer() const {
        nb::list names;
        for (const std::string& name : unknown_) names.append(nb::str(name.data(), name.size()));
        return nb::make_tuple(columns_of(found_), names, lists_);
    }

  private:
    void add(string_view query, PyObject* entries) {
        const auto number = tasks_.judged().find_query(query);
        const bool again = number == Judged::none
                               ? !unknown_.emplace(query).second
                               : std::exchange(seen_[static_cast<std::size_t>(number)], true);
        if (again) throw Declined();  // 1 and "1" are the same query
        const std::size_t begin = filling_->documents.size();
        texts_ = is_exactly(entries, &PyDict_Type);  // no key comes twice; ints may clash with text
        if (texts_)
            add_dict(entries);
        else if (is_exactly(entries, &PyList_Type))
            add_list(entries);
        else
            throw Declined();
        if (number != Judged::none)
            filling_->groups.push_back(
                {static_cast<std::size_t>(number), begin, filling_->documents.size(), texts_});
    }

    void add_dict(PyObject* entries) {
        PyObject *document, *score;
        for (Py_ssize_t position = 0; PyDict_Next(entries, &position, &document, &score);)
            add_row(document, score);
    }

    void add_list(PyObject* entries) {
        lists_ = true;
        const Py_ssize_t size = PyList_Size(entries);
        for (Py_ssize_t i = 0; i < size; ++i) {
            PyObject* entry = PyList_GetItem(entries, i);
            if (is_exactly(entry, &PyTuple_Type) && PyTuple_Size(entry) == 2)
                add_row(PyTuple_GetItem(entry, 0), PyTuple_GetItem(entry, 1));
            else
                add_row(entry, nullptr);
        }
    }

    void add_row(PyObject* document, PyObject* score) {
        if (!begun_) begun_ = true, scored_ = score != nullptr;
        if (scored_ != (score != nullptr)) throw Declined();
        const bool text = is_exactly(document, &PyUnicode_Type);
        texts_ = texts_ && text;
        const bool lent = at_once_ && !waits_ && text;
        filling_->documents.push_back(lent ? plain_text(document)
                                           : id_of(document, filling_->arena));
        if (score) filling_->scores.push_back(number_of_object(score));
    }

    // The first rows, which in most runs are all of them, are ranked in place: nothing can change
    // them while we hold the GIL.
    void rank_at_once() {
        filling_->rank(ranker_, scored_);
        ranked_ += filling_->documents.size();
        filling_->clear();
        at_once_ = ranked_ < batch_rows;
    }

    void wait() {
        const nb::gil_scoped_release released;
        pending_.get();
    }

    // Let one other thread rank what was read; more threads would only wait for Python.
    void hand_over() {
        if (pending_.valid()) wait();
        std::swap(filling_, ranking_);
        filling_->clear();
        pending_ = std::async(threads_ ? std::launch::async : std::launch::deferred,
                              [this] { ranking_->rank(ranker_, scored_); });
    }

    nb::handle data_;
    const Tasks& tasks_;
    bool threads_;
    Found found_;
    Ranker ranker_;
    bool begun_ = false, scored_ = false, lists_ = false, texts_ = false;
    bool at_once_ = true;
    bool waits_ = std::any_of(tasks_.all().begin(), tasks_.all().end(),
                              [](const Task& task) { return bool(task.protocol->whole); });
    std::size_t ranked_ = 0;
    std::vector<char> seen_ = std::vector<char>(tasks_.queries());
    std::unordered_set<std::string> unknown_;
    std::array<Batch, 2> batches_;
    Batch *filling_ = &batches_[0], *ranking_ = &batches_[1];
    std::future<void> pending_;
};

}  // namespace

void bind_dict(nb::module_& module) {
    module.def(
        "rank_dict",
        [](nb::dict data, const nb::list& judged, const nb::list& protocols,
           std::size_t threads) -> nb::object {
            const Tasks tasks(judged, protocols);
            try {
                Walk walk(data, tasks, threads > 1);
                walk.run();
                return walk.answer();
            } catch (const Declined&) {
                return nb::none();
            }
        },
        "data"_a, "judged"_a, "protocols"_a, "threads"_a);
}

}  // namespace idealist
