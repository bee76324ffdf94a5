#include "run_text/blocks.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/declined.hpp"
#include "run_text/delimited.hpp"
#include "run_text/lines.hpp"
#include "run_text/records.hpp"

#if defined(_WIN32)
#include <io.h>
#else
#include <unistd.h>
#endif

namespace idealist {

namespace {

constexpr string_view mark = "\xef\xbb\xbf";  // the byte order mark, not part of the text

// Where the records of a text end, if they are not the same as lines.
std::vector<std::size_t> ends_of_records(const Block& block, const Layout& layout) {
    std::vector<std::size_t> ends;
    const char* p = block.begin();
    while (p < block.end() && (p = record_end(p, block.end(), layout)))
        ends.push_back(static_cast<std::size_t>(p - block.begin()));
    return ends;
}

}  // namespace

std::size_t Descriptor::read(char* into, std::size_t size) {
#if defined(_WIN32)
    const int got = ::_read(descriptor_, into, static_cast<unsigned>(size));
#else
    ::ssize_t got;
    do got = ::read(descriptor_, into, size);
    while (got < 0 && errno == EINTR);
#endif
    if (got < 0) throw std::system_error(errno, std::generic_category());
    return static_cast<std::size_t>(got);
}

std::size_t Splitter::read(char* into, std::size_t size) {
    const std::size_t got = input_.read(into, size);
    bytes_ += got;
    ended_ = got == 0;
    return got;
}

bool Splitter::next(Block& block) {
    const std::lock_guard lock(mutex_);
    block.size = 0;
    block.reserve(carry_.size());
    std::copy(carry_.begin(), carry_.end(), block.text.begin());
    block.size = carry_.size();
    carry_.clear();
    for (std::size_t wanted = block_size; fill(block, wanted); wanted *= 2) {
        if (const std::size_t end = cut(block)) {
            carry_.assign(block.begin() + end, block.end());
            block.size = end;
            break;
        }
    }
    if (block.size == 0) return false;
    block.number = blocks_++;
    return true;
}

// Read until the block has this size; false at the end of the input, which gets its line feed.
bool Splitter::fill(Block& block, std::size_t size) {
    block.reserve(size);
    while (!ended_ && block.size < size) {
        block.size += read(block.text.data() + block.size, size - block.size);
        if (!begun_ && (block.size >= mark.size() + layout_.header || ended_)) begin(block);
        if (layout_.is_trec()) shorten_last_line(block);
    }
    if (!ended_) return true;
    if (block.size && block.text[block.size - 1] != '\n') {
        block.reserve(block.size + 1);
        block.text[block.size++] = '\n';
    }
    return false;
}

// Leave out the byte order mark, and the header.
void Splitter::begin(Block& block) {
    begun_ = true;
    if (string_view(block.begin(), block.size).starts_with(mark)) block.drop(mark.size());
    block.drop(std::min(layout_.header, block.size));
}

// Drop what exceeds the longest line, so that an endless line cannot exhaust memory.
void Splitter::shorten_last_line(Block& block) {
    std::size_t begin = block.size;
    while (begin > 0 && block.text[begin - 1] != '\n') --begin;
    std::size_t kept = longest_line + 8;  // still too long after leaving out a whole character
    if (block.size - begin <= kept) return;
    while ((block.text[begin + kept] & 0xc0) == 0x80 && kept > longest_line + 1) --kept;
    block.size = begin + kept;
    shortened_ = true;
}

// Where to end a block: after its last whole record, or before the first one of its last query.
std::size_t Splitter::cut(const Block& block) const {
    const bool quoted = layout_.kind == Layout::Kind::delimited &&
                        std::memchr(block.begin(), '"', block.size) != nullptr;
    std::vector<std::size_t> ends;
    if (quoted) ends = ends_of_records(block, layout_);
    const auto record_before = [&](std::size_t end) {  // where the record that ends there starts
        if (quoted) {
            ends.pop_back();
            return ends.empty() ? 0 : ends.back();
        }
        while (end > 1 && block.text[end - 2] != '\n') --end;
        return end - 1;
    };
    std::size_t end = block.size;
    if (quoted)
        end = ends.empty() ? 0 : ends.back();
    else
        while (end > 0 && block.text[end - 1] != '\n') --end;
    require(end > 0 || layout_.is_trec() || block.size <= longest_record);
    if (!by_query_ || end == 0 || layout_.kind == Layout::Kind::lists) return end;
    std::size_t first = end;
    string_view query;
    for (std::size_t at = end; at > 0;) {
        at = record_before(at);
        const string_view other = query_at(block, at);
        if (other.empty()) continue;
        if (query.empty()) query = other;
        if (other != query) break;
        first = at;
    }
    return first;
}

// The query of a record, empty if it holds no data.
string_view Splitter::query_at(const Block& block, std::size_t begin) const {
    const char* record = block.begin() + begin;
    switch (layout_.kind) {
        case Layout::Kind::delimited:
            return query_of_record(record, block.end(), layout_);
        case Layout::Kind::hits:
            return query_of_hit(record, layout_);
        default:
            return query_of(record);
    }
}

}  // namespace idealist
