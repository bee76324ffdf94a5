#include "columns/cells.hpp"

#include <charconv>
#include <cstring>
#include <type_traits>

#include "base/declined.hpp"

namespace idealist {

namespace {

// Read a number, which need not be aligned.
template <typename Number>
Number number_at(const Array& array, std::size_t row) {
    Number number;
    std::memcpy(&number, array.data + static_cast<std::ptrdiff_t>(row) * array.stride,
                sizeof number);
    return number;
}

template <typename Number>
class ArrayNumbers : public Numbers {
  public:
    explicit ArrayNumbers(const Array& array) : array_(array) {}
    double at(std::size_t row) const override {
        return static_cast<double>(number_at<Number>(array_, row));
    }

  private:
    Array array_;
};

// Whole numbers, whose digits are the ids.
template <typename Number>
class Digits : public Ids {
  public:
    explicit Digits(const Array& array) : array_(array) {}
    string_view at(std::size_t row, Arena& arena) const override {
        char digits[24];
        const auto end =
            std::to_chars(digits, digits + sizeof digits, number_at<Number>(array_, row)).ptr;
        return arena.copy({digits, static_cast<std::size_t>(end - digits)});
    }

  private:
    Array array_;
};

template <typename Base, template <typename> class Made, typename Number>
std::unique_ptr<Base> signed_or_not(const Array& array) {
    if (array.kind == 'i') return std::make_unique<Made<Number>>(array);
    return std::make_unique<Made<std::make_unsigned_t<Number>>>(array);
}

template <typename Base, template <typename> class Made>
std::unique_ptr<Base> whole_of(const Array& array) {
    if (array.kind != 'i' && array.kind != 'u') throw Declined();
    switch (array.size) {
        case 1:
            return signed_or_not<Base, Made, std::int8_t>(array);
        case 2:
            return signed_or_not<Base, Made, std::int16_t>(array);
        case 4:
            return signed_or_not<Base, Made, std::int32_t>(array);
        case 8:
            return signed_or_not<Base, Made, std::int64_t>(array);
        default:
            throw Declined();
    }
}

}  // namespace

std::unique_ptr<Numbers> numbers_of(const Array& array) {
    if (array.kind != 'f') return whole_of<Numbers, ArrayNumbers>(array);
    if (array.size == sizeof(double)) return std::make_unique<ArrayNumbers<double>>(array);
    if (array.size == sizeof(float)) return std::make_unique<ArrayNumbers<float>>(array);
    throw Declined();
}

std::unique_ptr<Ids> digits_of(const Array& array) {
    return whole_of<Ids, Digits>(array);
}

}  // namespace idealist
