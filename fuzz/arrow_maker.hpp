// Arrow tables made from choices: every layout that holds ids and numbers, whole or damaged.
#pragma once

#include <array>
#include <type_traits>

#include "arrow_array.hpp"
#include "target.hpp"
#include "text/utf8.hpp"

namespace idealist {

constexpr std::size_t names = 5;
constexpr const char* name_of[names] = {"query", "document", "score", "rank", "tokens"};
constexpr string_view number_formats = "cCsSiIlLfg";
constexpr std::array<const char*, 3> text_formats = {"u", "U", "vu"};
inline const std::vector<string_view> known = {
    "q1", "q2", "é", "7", "a", "b", "x#1", "x#2", "zz", "a-longer-document", ""};

// The cells a column should turn out to have: ids as text, numbers as numbers.
struct Expected {
    std::vector<std::string> ids;
    std::vector<double> numbers;
};

// Makes a stream according to the choices; only one may be read.
class Maker {
  public:
    explicit Maker(Choices& choices) : choices_(choices) {
        const std::size_t batches = choices_.below(4), columns = 2 + choices_.below(names - 1);
        for (std::size_t i = 0; i < columns; ++i) add_schema(i);
        for (ArrowSchema& schema : schemas_) children_.push_back(&schema);
        table_ = {
            "+s",    "",      nullptr, 0, static_cast<std::int64_t>(columns), children_.data(),
            nullptr, release, nullptr};
        expected.resize(columns);
        for (std::size_t i = 0; i < batches; ++i) add_batch(columns);
    }

    ArrowStream stream() {
        return {[](ArrowStream* one, ArrowSchema* schema) {
                    *schema = static_cast<Maker*>(one->private_data)->table_;
                    return 0;
                },
                [](ArrowStream* one, ArrowArray* array) {
                    auto& maker = *static_cast<Maker*>(one->private_data);
                    *array = maker.next_ < maker.batches_.size() ? *maker.batches_[maker.next_++]
                                                                 : ArrowArray{};
                    return 0;
                },
                [](ArrowStream*) { return ""; }, [](ArrowStream* one) { one->release = nullptr; },
                this};
    }

    // Whether it holds nothing that only Python reads.
    bool is_plain() const {
        const auto is_id = [](const std::string& id) {
            return !id.empty() && !bad_utf8(id.data(), id.data() + id.size());
        };
        const auto is_known = [](double number) { return number == number; };
        bool plain = !damaged && !expected[0].ids.empty() && !expected[1].ids.empty();
        for (std::size_t i = 0; i < 2; ++i) plain &= std::ranges::all_of(expected[i].ids, is_id);
        for (std::size_t i = 3; i < expected.size(); ++i)
            plain &= std::ranges::all_of(expected[i].numbers, is_known);
        return plain;
    }

    std::vector<Expected> expected;
    bool damaged = false;  // something was made that no array may contain

  private:
    static void release(ArrowSchema* schema) { schema->release = nullptr; }

    void add_schema(std::size_t column) {
        ArrowSchema& schema = schemas_.emplace_back();
        schema.name = name_of[column];
        schema.release = release;
        const std::size_t kind = column < 2 ? choices_.below(3) : 0;
        formats_.emplace_back(1, number_formats[choices_.below(number_formats.size())]);
        schema.format = kind == 1 ? text_formats[choices_.below(3)] : formats_.back().c_str();
        if (kind != 2) return;
        schema.dictionary = &dictionaries_.emplace_back();
        schema.dictionary->format = text_formats[choices_.below(3)];
        schema.dictionary->release = release;
    }

    void add_batch(std::size_t columns) {
        const std::size_t length = choices_.below(9);
        Made& batch = made_.emplace_back();
        for (std::size_t i = 0; i < columns; ++i)
            batch.children.push_back(add_array(schemas_[i], length, expected[i]));
        batch.add_nothing();
        batches_.push_back(batch.finish(length, 0, 0));
    }

    ArrowArray* add_array(const ArrowSchema& schema, std::size_t length, Expected& cells) {
        Made& made = made_.emplace_back();
        const std::size_t offset = choices_.below(4), rows = offset + length;
        const std::int64_t nulls = add_validity(made, rows, offset);
        const string_view format(schema.format);
        if (schema.dictionary) {
            add_codes(made, *schema.dictionary, format[0], rows, offset, cells);
        } else if (number_formats.find(format[0]) != string_view::npos) {
            add_numbers(made, format[0], rows, offset, cells);
        } else {
            const auto texts = some_texts(rows);
            for (std::size_t i = offset; i < rows; ++i) cells.ids.push_back(texts[i]);
            add_texts(made, format, texts);
        }
        return made.finish(length, offset, nulls);
    }

    std::int64_t add_validity(Made& made, std::size_t rows, std::size_t offset) {
        const std::size_t kind = choices_.below(8);
        if (kind > 1) return made.add_nothing(), 0;
        std::vector<unsigned char> bits((rows + 7) / 8, 0xff);
        if (kind == 1 && rows > offset) {
            const std::size_t null = offset + choices_.below(rows - offset);
            bits[null / 8] = static_cast<unsigned char>(bits[null / 8] & ~(1 << null % 8));
            damaged = true;
        }
        made.add(bits);
        return kind == 1 ? 1 : 0;
    }

    std::vector<std::string> some_texts(std::size_t count) {
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t which = choices_.below(known.size() + 2);
            texts.emplace_back(which < known.size() ? known[which]
                                                    : choices_.bytes(choices_.below(30)));
        }
        return texts;
    }

    void add_texts(Made& made, string_view format, const std::vector<std::string>& texts) {
        if (format == "vu") return add_views(made, texts);
        if (format == "u") return add_offsets<std::int32_t>(made, texts);
        add_offsets<std::int64_t>(made, texts);
    }

    template <typename Offset>
    void add_offsets(Made& made, const std::vector<std::string>& texts) {
        std::vector<Offset> ends(1);
        std::vector<char> all;
        for (const std::string& text : texts) {
            all.insert(all.end(), text.begin(), text.end());
            ends.push_back(static_cast<Offset>(all.size()));
        }
        if (choices_.below(16) == 1) {  // backwards, or before the text
            ends[choices_.below(ends.size())] = static_cast<Offset>(choices_.below(3)) - 1;
            damaged = true;
        }
        made.add(ends);
        made.add(all);
    }

    void add_views(Made& made, const std::vector<std::string>& texts) {
        std::vector<std::array<char, 16>> views;
        std::vector<char> all;
        for (const std::string& text : texts) {
            std::array<char, 16>& view = views.emplace_back();
            const auto put = [&](std::size_t at, std::size_t value) {
                const auto number = static_cast<std::int32_t>(value);
                std::memcpy(view.data() + at, &number, 4);
            };
            put(0, text.size());
            std::memcpy(view.data() + 4, text.data(),
                        std::min<std::size_t>(text.size(), text.size() > 12 ? 4 : 12));
            if (text.size() > 12) put(8, 0), put(12, all.size());
            if (text.size() > 12) all.insert(all.end(), text.begin(), text.end());
        }
        if (choices_.below(16) == 1 && !views.empty()) {
            views[choices_.below(views.size())][choices_.below(16)] ^=
                static_cast<char>(1 + choices_.below(255));
            damaged = true;
        }
        made.add(views);
        made.add(all);
        made.add(std::vector<std::int64_t>{static_cast<std::int64_t>(all.size())});
    }

    void add_codes(Made& made, const ArrowSchema& schema, char format, std::size_t rows,
                   std::size_t offset, Expected& cells) {
        Made& dictionary = made_.emplace_back();
        const auto texts = some_texts(choices_.below(6) + 1);
        dictionary.add_nothing();
        add_texts(dictionary, schema.format, texts);
        made.array.dictionary = dictionary.finish(texts.size(), 0, 0);
        Expected codes;
        add_numbers(made, format, rows, offset, codes, texts.size());
        for (const double code : codes.numbers) {
            const bool fits = code >= 0 && code < static_cast<double>(texts.size());
            damaged |= !fits || format == 'f' || format == 'g';
            cells.ids.push_back(fits ? texts[static_cast<std::size_t>(code)] : "");
        }
    }

    void add_numbers(Made& made, char format, std::size_t rows, std::size_t offset, Expected& cells,
                     std::size_t limit = 128) {
        const auto add = [&]<typename Value>(Value) {
            add_values<Value>(made, rows, offset, cells, limit);
        };
        const auto add_either = [&]<typename Value>(Value one) {
            if (format >= 'a') return add(one);
            add(std::make_unsigned_t<Value>{});
        };
        switch (format | 0x20) {
            case 'c':
                return add_either(std::int8_t{});
            case 's':
                return add_either(std::int16_t{});
            case 'i':
                return add_either(std::int32_t{});
            case 'l':
                return add_either(std::int64_t{});
            case 'f':
                return add(float{});
            default:
                return add(double{});
        }
    }

    // Most values are small; some are arbitrary bytes.
    template <typename Value>
    void add_values(Made& made, std::size_t rows, std::size_t offset, Expected& cells,
                    std::size_t limit) {
        std::vector<Value> values(rows);
        for (std::size_t i = 0; i < rows; ++i) {
            values[i] = static_cast<Value>(choices_.below(limit));
            const string_view any =
                choices_.below(16) == 1 ? choices_.bytes(sizeof(Value)) : string_view();
            if (!any.empty()) std::memcpy(&values[i], any.data(), any.size());
            if (i < offset) continue;
            cells.numbers.push_back(static_cast<double>(values[i]));
            if constexpr (std::is_integral_v<Value>) cells.ids.push_back(std::to_string(values[i]));
        }
        made.add(values);
    }

    Choices& choices_;
    std::deque<std::string> formats_;
    std::deque<ArrowSchema> schemas_, dictionaries_;
    std::vector<ArrowSchema*> children_;
    ArrowSchema table_{};
    std::deque<Made> made_;
    std::vector<ArrowArray*> batches_;
    std::size_t next_ = 0;
};

}  // namespace idealist
