// UTF-8: whether bytes are valid.
#pragma once

namespace idealist {

// The first byte that is not valid UTF-8; null if all bytes are valid.
const char* bad_utf8(const char* begin, const char* end);

}  // namespace idealist
