// Text: blanks, hashes, numbers and UTF-8, as Python's own functions on bytes see them.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

namespace idealist {

using std::string_view;

// Whether bytes.split() divides here; a line feed is one of these.
inline bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Multiply to 128 bits and fold: every bit of both factors moves every bit of the result.
inline std::uint64_t folded(std::uint64_t a, std::uint64_t b) {
#if defined(_MSC_VER)
    std::uint64_t high;
    const std::uint64_t low = _umul128(a, b, &high);
    return low ^ high;
#else
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#endif
}

template <typename Word>
inline std::uint64_t load(const char* from) {
    Word word;
    std::memcpy(&word, from, sizeof word);
    return word;
}

// Hash an id. It decides where to look, never what is equal: ids are compared byte by byte.
inline std::uint64_t hash_of(string_view id) {
    constexpr std::uint64_t salt = 0x9e3779b97f4a7c15, other = 0xd1b54a32d192ed03;
    const char* p = id.data();
    std::size_t left = id.size();
    std::uint64_t seed = salt ^ left;
    for (; left > 16; p += 16, left -= 16)
        seed = folded(load<std::uint64_t>(p) ^ salt, load<std::uint64_t>(p + 8) ^ seed);
    std::uint64_t a = 0, b = 0;
    if (left >= 8) {
        a = load<std::uint64_t>(p), b = load<std::uint64_t>(p + left - 8);
    } else if (left >= 4) {
        a = load<std::uint32_t>(p), b = load<std::uint32_t>(p + left - 4);
    } else if (left > 0) {
        const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(p[i]); };
        a = static_cast<std::uint64_t>(byte(0)) << 16 | byte(left / 2) << 8 | byte(left - 1);
    }
    return folded(a ^ other, b ^ seed);
}

// What float() reads from a cell, correctly rounded whatever the locale; none where it would raise.
// Underscores, which Python takes between digits, are refused.
std::optional<double> number_of(string_view cell);

// Where the first byte stands that UTF-8 cannot have there; null where all is well.
const char* bad_utf8(const char* begin, const char* end);

// Copies of ids, at addresses that stay.
class Arena {
  public:
    Arena() = default;
    Arena(const Arena&) = delete;

    string_view copy(string_view text) {
        if (text.size() > left_) grow(text.size());
        char* at = next_;
        if (!text.empty()) std::memcpy(at, text.data(), text.size());
        next_ += text.size();
        left_ -= text.size();
        return {at, text.size()};
    }

    void clear() {
        chunks_.clear();
        next_ = nullptr;
        left_ = 0;
    }

  private:
    void grow(std::size_t least) {
        constexpr std::size_t chunk = std::size_t{1} << 16;
        left_ = least > chunk ? least : chunk;
        chunks_.push_back(std::make_unique_for_overwrite<char[]>(left_));
        next_ = chunks_.back().get();
    }

    std::vector<std::unique_ptr<char[]>> chunks_;
    char* next_ = nullptr;
    std::size_t left_ = 0;
};

}  // namespace idealist
