// Draw: the place a document takes in a tie that is broken at random.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace idealist {

using Digest = std::array<unsigned char, 16>;

// BLAKE2b of the JSON text ["seed", "query", "document"]: no other row changes it, nor does the
// order of the rows. The same bytes as `idealist.order` draws.
Digest draw(std::string_view seed, std::string_view query, std::string_view document);

}  // namespace idealist
