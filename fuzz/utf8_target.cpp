// Fuzz target: bytes are valid UTF-8 exactly as far as they can be decoded character by character.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "text/bytes.hpp"
#include "text/utf8.hpp"

using namespace idealist;

namespace {

// How many bytes a character with this first byte takes; 0 if there is none.
std::size_t length_of(unsigned char lead) {
    if (lead < 0x80) return 1;
    if (lead < 0xc0) return 0;
    return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : 0;
}

// Decode a character; a code that is overlong, too large or a surrogate is not valid.
bool is_character(string_view bytes) {
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    std::uint32_t code = static_cast<unsigned char>(bytes[0]);
    if (bytes.size() > 1) code &= 0xffu >> (bytes.size() + 1);
    for (const char byte : bytes.substr(1)) {
        if ((byte & 0xc0) != 0x80) return false;
        code = code << 6 | (byte & 0x3f);
    }
    return code >= least[bytes.size()] && code < 0x110000 && (code < 0xd800 || code > 0xdfff);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const auto text = std::make_unique<char[]>(size);  // nothing may be read beyond it
    std::copy_n(data, size, text.get());
    std::size_t at = 0;
    while (at < size) {
        const std::size_t length = length_of(static_cast<unsigned char>(text[at]));
        if (length == 0 || length > size - at || !is_character({text.get() + at, length})) break;
        at += length;
    }
    const char* expected = at == size ? nullptr : text.get() + at;
    const char* found = bad_utf8(text.get(), text.get() + size);
    if (found == expected) return 0;
    std::fprintf(stderr, "bad byte at %zu expected, found at %td\n", at,
                 found ? found - text.get() : -1);
    std::abort();
}
