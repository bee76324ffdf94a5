// JSON: text as json.dumps writes it, in ASCII.
#pragma once

#include <string>

#include "text/bytes.hpp"

namespace idealist {

// Add a string, which must be valid UTF-8, in quotes.
void add_json(std::string& json, string_view text);

}  // namespace idealist
