// NumPy: arrays of ids and numbers, read through Python's buffer protocol.
#pragma once

#include "binding/objects.hpp"
#include "columns/cells.hpp"

namespace idealist {

// The memory of a one-dimensional array, held for as long as this lives.
class Buffer {
  public:
    explicit Buffer(nb::handle array);
    Buffer(const Buffer&) = delete;
    ~Buffer() { PyBuffer_Release(&view_); }

    Parts<Ids> ids() const;
    Parts<Numbers> numbers() const;

  private:
    string_view format() const { return view_.format; }
    std::size_t size() const;
    Array array() const;

    Py_buffer view_{};
};

}  // namespace idealist
