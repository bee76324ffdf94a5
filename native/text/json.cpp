#include "text/json.hpp"

#include <cstdint>

namespace idealist {

namespace {

void add_escape(std::string& json, std::uint32_t unit) {
    constexpr char hex[] = "0123456789abcdef";
    json += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) json += hex[unit >> shift & 15];
}

// Escape one character of valid UTF-8.
const char* add_character(std::string& json, const char* p) {
    const auto byte = [&](int i) { return static_cast<unsigned char>(p[i]) & 0x3fu; };
    const auto lead = static_cast<unsigned char>(*p);
    if (lead < 0x80) {
        add_escape(json, lead);
        return p + 1;
    }
    if (lead < 0xe0) {
        add_escape(json, (lead & 0x1fu) << 6 | byte(1));
        return p + 2;
    }
    if (lead < 0xf0) {
        add_escape(json, (lead & 0x0fu) << 12 | byte(1) << 6 | byte(2));
        return p + 3;
    }
    const auto point = ((lead & 0x07u) << 18 | byte(1) << 12 | byte(2) << 6 | byte(3)) - 0x10000;
    add_escape(json, 0xd800 + (point >> 10));
    add_escape(json, 0xdc00 + (point & 0x3ff));
    return p + 4;
}

bool is_plain(char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

}  // namespace

void add_json(std::string& json, string_view text) {
    constexpr string_view special = "\"\\\n\r\t\f\b", letters = "\"\\nrtfb";
    json += '"';
    for (const char *p = text.data(), *end = p + text.size(); p < end;) {
        const char* begin = p;
        while (p < end && is_plain(*p)) ++p;
        json.append(begin, p);
        if (p == end) break;
        if (const auto found = special.find(*p); found != special.npos) {
            json += '\\';
            json += letters[found];
            ++p;
        } else {
            p = add_character(json, p);
        }
    }
    json += '"';
}

}  // namespace idealist
