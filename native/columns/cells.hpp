// Cells: ids and numbers in memory, whatever their layout.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "text/arena.hpp"

namespace idealist {

// A sequence of ids; throws Declined at one that is not plain.
class Ids {
  public:
    virtual ~Ids() = default;
    // The id in a row; if memory does not hold it as text, the arena keeps a copy.
    virtual string_view at(std::size_t row, Arena& arena) const = 0;
};

class Numbers {
  public:
    virtual ~Numbers() = default;
    virtual double at(std::size_t row) const = 0;
};

// Numbers in memory: signed (i), unsigned (u) or floating (f), as in NumPy, of `size` bytes each
// and `stride` bytes apart.
struct Array {
    char kind;
    std::size_t size;
    const char* data;
    std::ptrdiff_t stride;
};

std::unique_ptr<Numbers> numbers_of(const Array& array);
std::unique_ptr<Ids> digits_of(const Array& array);

// A column in consecutive parts of any size; a column without parts is missing.
template <typename Cells>
struct Parts {
    struct Part {
        std::shared_ptr<const Cells> cells;
        std::size_t size;
    };
    std::vector<Part> parts;

    void add(std::shared_ptr<const Cells> cells, std::size_t size) {
        if (size) parts.push_back({std::move(cells), size});
    }
};

}  // namespace idealist
