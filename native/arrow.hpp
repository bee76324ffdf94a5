// Arrow: tables in the layout of Arrow's C data and stream interfaces, read where they lie.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cells.hpp"
#include "declined.hpp"

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

// One of these, released once.
template <typename Struct>
class Owned {
  public:
    Owned() = default;
    // Take it over from one who then has none.
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

// Refuse a column that Python may be unable to list, whether it is used or not: there are more
// moments than Python has dates for, and what is in an extension's cells only that extension knows.
void check_column(const ArrowSchema& schema);

// Refuse an array with nulls, or with another number of buffers than it should have.
void check_array(const ArrowArray& array, std::int64_t buffers);

bool is_number(const ArrowSchema& schema);
std::unique_ptr<Ids> ids_of(const ArrowSchema& schema, const ArrowArray& array);
std::unique_ptr<Numbers> numbers_of(const ArrowSchema& schema, const ArrowArray& array);

// A stream's columns, held until this is gone. Every function throws Declined where something is
// not plain.
class ArrowTable {
  public:
    explicit ArrowTable(ArrowStream& stream) : stream_(stream) {}

    // Ask for the schema, then read all there is, then let go of the stream. The first two may not
    // be called with Python's lock: a stream may wait for a thread that needs it.
    void open();
    void read();
    void close() { stream_.release(); }

    // Whether it has columns with names, and is not itself a column, number 0.
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
    std::vector<Owned<ArrowArray>> batches_;
};

}  // namespace idealist
