// Cells: ids and numbers as they lie in memory, whatever their layout.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "text.hpp"

namespace idealist {

// Ids one behind the other; throws Declined where one is no plain id.
class Ids {
  public:
    virtual ~Ids() = default;
    // The id of a row; the arena keeps what does not stand in memory as text.
    virtual string_view at(std::size_t row, Arena& arena) const = 0;
};

class Numbers {
  public:
    virtual ~Numbers() = default;
    virtual double at(std::size_t row) const = 0;
};

// Numbers in memory: signed (i), unsigned (u) or floating (f) as NumPy has it, of so many bytes,
// `stride` bytes apart.
struct Array {
    char kind;
    std::size_t size;
    const char* data;
    std::ptrdiff_t stride;
};

std::unique_ptr<Numbers> numbers_of(const Array& array);
std::unique_ptr<Ids> digits_of(const Array& array);

// A column in parts of any size, one behind the other; without parts it is not there.
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
