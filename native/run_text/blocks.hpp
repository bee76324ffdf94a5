// Blocks: text for several threads, in pieces that end where a record or a query ends.
#pragma once

#include <cstddef>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/sizes.hpp"
#include "run_text/layout.hpp"

namespace idealist {

// Where bytes come from.
class Input {
  public:
    virtual ~Input() = default;
    // Read up to `size` bytes; 0 means the end.
    virtual std::size_t read(char* into, std::size_t size) = 0;
};

// A file by its descriptor; read rather than mapped, so that a file that shrinks does no harm.
class Descriptor : public Input {
  public:
    explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
    std::size_t read(char* into, std::size_t size) override;

  private:
    int descriptor_;
};

constexpr std::size_t padding = 72;  // for the last line feed, and to read 64 bytes from any line

// Whole records; the last one ends in a line feed, even if the file does not.
struct Block {
    std::vector<char> text;  // never shrinks; only the first `size` bytes count
    std::size_t size = 0;
    std::size_t number = 0;

    const char* begin() const { return text.data(); }
    const char* end() const { return text.data() + size; }

    void reserve(std::size_t room) {
        if (text.size() < room + padding) text.resize(room + padding);
    }

    void drop(std::size_t count) {
        size -= count;
        std::memmove(text.data(), text.data() + count, size);
    }
};

// Splits an input among threads.
class Splitter {
  public:
    // With `by_query`, no block may end in the middle of a query.
    Splitter(Input& input, const Layout& layout, bool by_query)
        : input_(input), layout_(layout), by_query_(by_query) {}

    // Fill a block; false at the end.
    bool next(Block& block);
    std::size_t bytes() const { return bytes_; }
    bool shortened() const { return shortened_; }  // whether some bytes were left out

  private:
    bool fill(Block& block, std::size_t size);
    void begin(Block& block);
    void shorten_last_line(Block& block);
    std::size_t cut(const Block& block) const;
    string_view query_at(const Block& block, std::size_t begin) const;
    std::size_t read(char* into, std::size_t size);

    Input& input_;
    const Layout& layout_;
    bool by_query_;
    std::mutex mutex_;
    std::vector<char> carry_;
    std::size_t blocks_ = 0, bytes_ = 0;
    bool ended_ = false, begun_ = false, shortened_ = false;
};

}  // namespace idealist
