// Arrow's layouts for ids and numbers.
#include <cstring>

#include "columns/arrow.hpp"

namespace idealist {

namespace {

// What the letter of a format means, in NumPy's terms; kind 0 for anything but numbers.
Array number_format(string_view format) {
    constexpr string_view letters = "cCsSiIlLfg";
    constexpr char kinds[] = "iuiuiuiuff";
    constexpr std::size_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    const std::size_t at = format.size() == 1 ? letters.find(format[0]) : string_view::npos;
    if (at == string_view::npos) return {};
    return {kinds[at], sizes[at], nullptr, static_cast<std::ptrdiff_t>(sizes[at])};
}

// Whether metadata, pairs of texts preceded by their sizes, names an extension type.
bool is_extension(const char* metadata) {
    if (!metadata) return false;
    const auto number = [&] {
        std::int32_t value;
        std::memcpy(&value, metadata, sizeof value);
        metadata += sizeof value;
        require(value >= 0);
        return static_cast<std::size_t>(value);
    };
    for (std::size_t texts = 2 * number(); texts > 0; --texts) {
        const std::size_t size = number();
        if (string_view(metadata, size).starts_with("ARROW:extension")) return true;
        metadata += size;
    }
    return false;
}

bool has_nulls(const ArrowArray& array) {
    const auto* bits =
        static_cast<const unsigned char*>(array.n_buffers > 0 ? array.buffers[0] : nullptr);
    if (!bits) return array.null_count > 0;
    for (std::int64_t i = array.offset, end = i + array.length; i < end; ++i) {
        if (i % 8 == 0 && end - i >= 8 && bits[i / 8] == 0xff)
            i += 7;
        else if (!(bits[i / 8] >> (i % 8) & 1))
            return true;
    }
    return false;
}

const char* buffer_of(const ArrowArray& array, std::size_t i) {
    require(array.buffers[i] != nullptr);
    return static_cast<const char*>(array.buffers[i]);
}

Array number_array(const ArrowSchema& schema, const ArrowArray& array) {
    Array made = number_format(schema.format);
    require(made.kind != 0);
    check_array(array, 2);
    made.data = buffer_of(array, 1) + array.offset * made.stride;
    return made;
}

// Texts found by offsets of 4 or 8 bytes.
template <typename Offset>
class Texts : public Ids {
  public:
    explicit Texts(const ArrowArray& array) {
        check_array(array, 3);
        offsets_ = buffer_of(array, 1) + array.offset * static_cast<std::int64_t>(sizeof(Offset));
        text_ = buffer_of(array, 2);
    }

    string_view at(std::size_t row, Arena&) const override {
        Offset ends[2];
        std::memcpy(ends, offsets_ + row * sizeof(Offset), sizeof ends);
        require(0 <= ends[0] && ends[0] <= ends[1]);
        return {text_ + ends[0], static_cast<std::size_t>(ends[1] - ends[0])};
    }

  private:
    const char *offsets_, *text_;
};

// Texts stored in their views, or in one of several buffers of known sizes.
class Views : public Ids {
  public:
    explicit Views(const ArrowArray& array) : buffers_(array.buffers + 2) {
        require(array.n_buffers >= 3);
        check_array(array, array.n_buffers);
        views_ = buffer_of(array, 1) + array.offset * 16;
        count_ = array.n_buffers - 3;
        sizes_ = static_cast<const char*>(array.buffers[array.n_buffers - 1]);
        require(sizes_ || count_ == 0);
    }

    string_view at(std::size_t row, Arena&) const override {
        const char* view = views_ + row * 16;
        const auto size = static_cast<std::int32_t>(load<std::int32_t>(view));
        require(size >= 0);
        if (size <= 12) return {view + 4, static_cast<std::size_t>(size)};
        const auto buffer = static_cast<std::int32_t>(load<std::int32_t>(view + 8));
        const auto begin = static_cast<std::int32_t>(load<std::int32_t>(view + 12));
        require(0 <= buffer && buffer < count_ && 0 <= begin);
        std::int64_t room;
        std::memcpy(&room, sizes_ + buffer * 8, sizeof room);
        const auto* text = static_cast<const char*>(buffers_[buffer]);
        require(text && begin + std::int64_t{size} <= room &&
                std::memcmp(view + 4, text + begin, 4) == 0);
        return {text + begin, static_cast<std::size_t>(size)};
    }

  private:
    const void** buffers_;
    const char *views_, *sizes_;
    std::int64_t count_;
};

std::unique_ptr<Ids> texts_of(string_view format, const ArrowArray& array) {
    if (format == "u") return std::make_unique<Texts<std::int32_t>>(array);
    if (format == "U") return std::make_unique<Texts<std::int64_t>>(array);
    require(format == "vu");
    return std::make_unique<Views>(array);
}

// Texts given by their numbers in a dictionary.
class Dictionary : public Ids {
  public:
    Dictionary(const ArrowSchema& schema, const ArrowArray& array) {
        require(array.dictionary && !schema.dictionary->dictionary);
        const Array numbers = number_array(schema, array);
        require(numbers.kind != 'f');
        numbers_ = numbers_of(numbers);
        texts_ = texts_of(schema.dictionary->format, *array.dictionary);
        size_ = static_cast<double>(array.dictionary->length);
    }

    string_view at(std::size_t row, Arena& arena) const override {
        const double number = numbers_->at(row);  // exact: dictionaries are shorter than 2^53
        require(0 <= number && number < size_);
        return texts_->at(static_cast<std::size_t>(number), arena);
    }

  private:
    std::unique_ptr<Numbers> numbers_;
    std::unique_ptr<Ids> texts_;
    double size_;
};

}  // namespace

void check_column(const ArrowSchema& schema) {
    require(schema.format && schema.format[0] != 't' && !is_extension(schema.metadata));
    for (std::int64_t i = 0; i < schema.n_children; ++i) {
        require(schema.children && schema.children[i]);
        check_column(*schema.children[i]);
    }
    if (schema.dictionary) check_column(*schema.dictionary);
}

void check_array(const ArrowArray& array, std::int64_t buffers) {
    constexpr std::int64_t most = std::int64_t{1} << 48;
    require(array.length >= 0 && array.length < most && array.offset >= 0 && array.offset < most);
    require(array.n_buffers == buffers && !has_nulls(array));
}

bool is_number(const ArrowSchema& schema) {
    return number_format(schema.format).kind && !schema.dictionary;
}

std::unique_ptr<Ids> ids_of(const ArrowSchema& schema, const ArrowArray& array) {
    if (schema.dictionary) return std::make_unique<Dictionary>(schema, array);
    if (is_number(schema)) return digits_of(number_array(schema, array));
    return texts_of(schema.format, array);
}

std::unique_ptr<Numbers> numbers_of(const ArrowSchema& schema, const ArrowArray& array) {
    require(is_number(schema));
    return numbers_of(number_array(schema, array));
}

}  // namespace idealist
