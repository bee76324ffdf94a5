// An Arrow array that owns what it points to.
#pragma once

#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "columns/arrow.hpp"

namespace idealist {

// Each buffer has exactly its size, so that reading past its end is noticed.
class Made {
  public:
    ArrowArray array{};

    template <typename Value>
    void add(const std::vector<Value>& values) {
        const std::size_t size = values.size() * sizeof(Value);
        auto& buffer = buffers_.emplace_back(std::make_unique<char[]>(size));
        if (size) std::memcpy(buffer.get(), values.data(), size);
        pointers_.push_back(buffer.get());
    }
    void add_nothing() { pointers_.push_back(nullptr); }

    ArrowArray* finish(std::size_t length, std::size_t offset, std::int64_t nulls) {
        array.length = static_cast<std::int64_t>(length);
        array.offset = static_cast<std::int64_t>(offset);
        array.null_count = nulls;
        array.n_buffers = static_cast<std::int64_t>(pointers_.size());
        array.buffers = pointers_.data();
        array.n_children = static_cast<std::int64_t>(children.size());
        array.children = children.data();
        array.release = [](ArrowArray* one) { one->release = nullptr; };
        return &array;
    }

    std::vector<ArrowArray*> children;

  private:
    std::deque<std::unique_ptr<char[]>> buffers_;
    std::vector<const void*> pointers_;
};

}  // namespace idealist
