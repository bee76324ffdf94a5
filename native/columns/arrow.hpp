// Arrow: tables that come through Arrow's C data and stream interfaces, read in place.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/declined.hpp"
#include "columns/cells.hpp"

namespace idealist {

// The structs of the interfaces; their layout is fixed.
struct ArrowSchema {
    const char *format, *name, *metadata;
    std::int64_t flags, n_children;
    ArrowSchema **children, *dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    std::int64_t length, null_count, offset, n_buffers, n_children;
    const void** buffers;
    ArrowArray **children, *dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

struct ArrowStream {
    int (*get_schema)(ArrowStream*, ArrowSchema*);
    int (*get_next)(ArrowStream*, ArrowArray*);
    const char* (*get_last_error)(ArrowStream*);
    void (*release)(ArrowStream*);
    void* private_data;
};

// Owns one of these structs, and releases it once.
template <typename Struct>
class Owned {
  public:
    Owned() = default;
    // Take it over from an owner, who then has none.
    explicit Owned(Struct& from) : value_(from) { from.release = nullptr; }
    Owned(Owned&& other) noexcept : Owned(other.value_) {}
    Owned(const Owned&) = delete;
    ~Owned() { release(); }

    void release() {
        if (value_.release) value_.release(&value_);
        value_.release = nullptr;
    }
    explicit operator bool() const { return value_.release != nullptr; }
    Struct* operator->() { return &value_; }
    const Struct* operator->() const { return &value_; }
    Struct* get() { return &value_; }
    const Struct& operator*() const { return value_; }

  private:
    Struct value_{};
};

// Refuse a column that Python may be unable to list, even if it is not used: Arrow has times that
// no Python date can hold, and only an extension knows what its cells mean.
void check_column(const ArrowSchema& schema);

// Refuse an array that has nulls or the wrong number of buffers.
void check_array(const ArrowArray& array, std::int64_t buffers);

bool is_number(const ArrowSchema& schema);
std::unique_ptr<Ids> ids_of(const ArrowSchema& schema, const ArrowArray& array);
std::unique_ptr<Numbers> numbers_of(const ArrowSchema& schema, const ArrowArray& array);

// A stream's columns, held for as long as this lives. Every function throws Declined at anything
// that is not plain.
class ArrowTable {
  public:
    explicit ArrowTable(ArrowStream& stream) : stream_(stream) {}

    // Ask for the schema, then read everything, then release the stream. Do not call the first two
    // while holding the GIL: a stream may wait for a thread that needs it.
    void open();
    void read() {
        while (read_batch()) continue;
    }
    void close() { stream_.release(); }

    // Read batch by batch, and forget those that come first; false at the end.
    bool read_batch();
    void drop(std::size_t batches);
    std::size_t batches() const { return batches_.size(); }
    std::size_t rows(std::size_t batch) const {
        return static_cast<std::size_t>(batches_[batch]->length);
    }

    // Whether it has named columns; if not, it is itself a column, number 0.
    bool has_names() const;
    std::vector<string_view> names() const;
    std::vector<bool> numeric() const;

    Parts<Ids> ids(std::size_t column) const;
    Parts<Numbers> numbers(std::size_t column) const;

  private:
    const ArrowSchema& schema_of(std::size_t column) const;
    const ArrowArray& array_of(const ArrowArray& batch, std::size_t column) const;

    Owned<ArrowStream> stream_;
    Owned<ArrowSchema> schema_;
    std::deque<Owned<ArrowArray>> batches_;
};

}  // namespace idealist
