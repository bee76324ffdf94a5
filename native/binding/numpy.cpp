#include "binding/numpy.hpp"

#include <array>
#include <cstring>

#include "text/utf8.hpp"

namespace idealist {

namespace {

// Texts of a fixed width, in code points of 4 bytes; shorter ones are padded with zeros.
class FixedTexts : public Ids {
  public:
    explicit FixedTexts(const Array& array) : array_(array), width_(array.size / 4) {}

    string_view at(std::size_t row, Arena& arena) const override {
        const char* from = array_.data + static_cast<std::ptrdiff_t>(row) * array_.stride;
        std::size_t size = width_;
        while (size > 0 && load<std::uint32_t>(from + 4 * (size - 1)) == 0) --size;
        std::array<char, 256> few;
        std::vector<char> many(4 * size > few.size() ? 4 * size : 0);
        char* const text = many.empty() ? few.data() : many.data();
        char* end = text;
        for (std::size_t i = 0; i < size; ++i) {
            const auto code = static_cast<std::uint32_t>(load<std::uint32_t>(from + 4 * i));
            require(code < 0x110000);
            end = write_utf8(code, end);
        }
        return arena.copy({text, static_cast<std::size_t>(end - text)});
    }

  private:
    Array array_;
    std::size_t width_;
};

// Copies of the ids in Python objects, which cannot be read without the GIL.
class ObjectIds : public Ids {
  public:
    ObjectIds(const Array& array, std::size_t size) {
        texts_.reserve(size);
        PyObject* last = nullptr;
        for (std::size_t row = 0; row < size; ++row) {
            PyObject* id;
            std::memcpy(&id, array.data + static_cast<std::ptrdiff_t>(row) * array.stride,
                        sizeof id);
            texts_.push_back(id && id == last ? texts_.back() : id_of(id, arena_));
            last = id;
            if (row % 65536 == 65535 && PyErr_CheckSignals() != 0) throw nb::python_error();
        }
    }

    string_view at(std::size_t row, Arena&) const override { return texts_[row]; }

  private:
    Arena arena_;
    std::vector<string_view> texts_;
};

// Whether a format means text of a fixed width, such as 12w.
bool is_fixed_text(string_view format) {
    return format.ends_with('w') && format.find_first_not_of("0123456789") == format.size() - 1;
}

}  // namespace

Buffer::Buffer(nb::handle array) {
    if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_STRIDED_RO | PyBUF_FORMAT) == 0) return;
    PyErr_Clear();  // an array of dates has no buffer
    throw Declined();
}

std::size_t Buffer::size() const {
    require(view_.ndim == 1);
    return static_cast<std::size_t>(view_.shape[0]);
}

// Its memory as an array of numbers; kind 0 if it holds something else.
Array Buffer::array() const {
    constexpr string_view letters = "bhilqBHILQfd";
    constexpr char kinds[] = "iiiiiuuuuuff";
    const std::size_t at = format().size() == 1 ? letters.find(format()[0]) : string_view::npos;
    const char kind = at == string_view::npos ? '\0' : kinds[at];
    return {kind, static_cast<std::size_t>(view_.itemsize), static_cast<const char*>(view_.buf),
            view_.strides[0]};
}

Parts<Ids> Buffer::ids() const {
    Parts<Ids> made;
    const std::size_t rows = size();
    if (format() == "O")
        made.add(std::make_shared<ObjectIds>(array(), rows), rows);
    else if (is_fixed_text(format()))
        made.add(std::make_shared<FixedTexts>(array()), rows);
    else
        made.add(digits_of(array()), rows);
    return made;
}

Parts<Numbers> Buffer::numbers() const {
    Parts<Numbers> made;
    const std::size_t rows = size();
    made.add(numbers_of(array()), rows);
    return made;
}

}  // namespace idealist
