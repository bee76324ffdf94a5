#include "text/utf8.hpp"

namespace idealist {

namespace {

bool continues(const char* p, const char* end) {
    return p < end && (*p & 0xc0) == 0x80;
}

// The length of the character that starts here; 0 if it is not valid.
int length_of(const char* p, const char* end) {
    const auto lead = static_cast<unsigned char>(*p);
    const auto second = p + 1 < end ? static_cast<unsigned char>(p[1]) : 0;
    if (lead < 0x80) return 1;
    if (lead >= 0xc2 && lead <= 0xdf) return continues(p + 1, end) ? 2 : 0;
    if (lead >= 0xe0 && lead <= 0xef) {
        const bool range = lead == 0xe0 ? second >= 0xa0 : lead == 0xed ? second < 0xa0 : true;
        return range && continues(p + 1, end) && continues(p + 2, end) ? 3 : 0;
    }
    if (lead >= 0xf0 && lead <= 0xf4) {
        const bool range = lead == 0xf0 ? second >= 0x90 : lead == 0xf4 ? second < 0x90 : true;
        const bool all = continues(p + 1, end) && continues(p + 2, end) && continues(p + 3, end);
        return range && all ? 4 : 0;
    }
    return 0;
}

}  // namespace

const char* bad_utf8(const char* begin, const char* end) {
    for (const char* p = begin; p < end;) {
        const int length = length_of(p, end);
        if (length == 0) return p;
        p += length;
    }
    return nullptr;
}

}  // namespace idealist
