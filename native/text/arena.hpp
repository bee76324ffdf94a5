// Arena: memory for copies of ids.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "text/bytes.hpp"

namespace idealist {

// Copies stay at the same address until they are cleared; eight bytes may be read from any of them.
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
        chunks_.push_back(std::make_unique_for_overwrite<char[]>(left_ + sizeof(std::uint64_t)));
        next_ = chunks_.back().get();
    }

    std::vector<std::unique_ptr<char[]>> chunks_;
    char* next_ = nullptr;
    std::size_t left_ = 0;
};

}  // namespace idealist
