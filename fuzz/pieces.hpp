// Pieces: a text in memory, read in pieces of any size.
#pragma once

#include <algorithm>

#include "run_text/blocks.hpp"

namespace idealist {

class Pieces : public Input {
  public:
    Pieces(string_view text, std::size_t piece) : left_(text), piece_(piece) {}

    std::size_t read(char* into, std::size_t size) override {
        const std::size_t count = std::min({size, piece_, left_.size()});
        std::copy_n(left_.data(), count, into);
        left_.remove_prefix(count);
        return count;
    }

  private:
    string_view left_;
    std::size_t piece_;
};

}  // namespace idealist
