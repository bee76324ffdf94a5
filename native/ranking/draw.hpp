// Draw: where a document comes in a tie that is broken at random.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace idealist {

using Digest = std::array<unsigned char, 16>;

// BLAKE2b of the JSON text ["seed", "query", "document"], which depends neither on other rows nor
// on the order of the rows. `idealist.ranking.order` draws the same bytes.
Digest draw(std::string_view seed, std::string_view query, std::string_view document);

}  // namespace idealist
