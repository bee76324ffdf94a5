#include "columns/judgments.hpp"

#include <algorithm>

#include "base/declined.hpp"
#include "text/utf8.hpp"

namespace idealist {

namespace {

// A column while it is read from its beginning.
template <typename Cells>
class Reader {
  public:
    explicit Reader(const Parts<Cells>& column) : parts_(column.parts) {}

    std::size_t size() const {
        std::size_t all = 0;
        for (const auto& part : parts_) all += part.size;
        return all;
    }

    template <typename... Arguments>
    auto next(Arguments&... arguments) {
        const auto& part = parts_[part_];
        const auto cell = part.cells->at(row_, arguments...);
        if (++row_ == part.size) ++part_, row_ = 0;
        return cell;
    }

  private:
    const std::vector<typename Parts<Cells>::Part>& parts_;
    std::size_t part_ = 0, row_ = 0;
};

string_view checked(string_view id) {
    require(!id.empty() && !bad_utf8(id.data(), id.data() + id.size()));
    return id;
}

}  // namespace

Judgments read_judgments(const Columns& columns, Arena& arena) {
    Reader query(columns.query), document(columns.document);
    Reader grade(columns.numbers[Columns::score]);
    const std::size_t size = query.size();
    require(document.size() == size && grade.size() == size);
    JudgmentRows rows;
    rows.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
        const string_view name = checked(query.next(arena));
        const string_view id = checked(document.next(arena));
        rows.add(name, id, grade.next());
    }
    return rows.sorted();
}

}  // namespace idealist
