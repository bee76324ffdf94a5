// JSON: the values on one line, as Python's json reads them; what is not plain is declined.
#pragma once

#include <string>
#include <vector>

#include "base/declined.hpp"
#include "text/arena.hpp"

namespace idealist {

// Reads a line from its beginning. The line feed at its end is no part of any value, so that
// nothing is read beyond it. Texts with escapes are decoded into the arena.
class Json {
  public:
    Json(const char* line, Arena& arena) : at_(line), arena_(arena) {}

    // The next sign that is not blank.
    char peek() {
        while (*at_ == ' ' || *at_ == '\t' || *at_ == '\r') ++at_;
        return *at_;
    }

    // Read an object: `member(key)` must read its value. Keys with escapes are declined.
    template <typename Member>
    void object(Member member) {
        take('{');
        if (peek() != '}') {
            do {
                const string_view key = raw_text();
                require(key.find('\\') == string_view::npos);
                take(':');
                member(key);
            } while (has_more());
        }
        take('}');
    }

    // Read a list: `item()` must read one item.
    template <typename Item>
    void list(Item item) {
        take('[');
        if (peek() != ']') {
            do item();
            while (has_more());
        }
        take(']');
    }

    void take(char sign) {
        require(peek() == sign);
        ++at_;
    }

    string_view text();
    double number();
    string_view id();  // a text that is not empty, or the digits of a whole number
    void skip();       // any value; an object that repeats a key is declined

    const char* position() const { return at_; }

  private:
    bool has_more() {
        const bool more = peek() == ',';
        at_ += more;
        return more;
    }

    string_view raw_text();    // as it is written, between its quotes
    string_view raw_number();  // as it is written
    void skip_escape();
    void skip_object(int depth);
    void skip(int depth);

    const char* at_;
    Arena& arena_;
    std::string decoded_;
    std::vector<string_view> keys_;
};

}  // namespace idealist
