#include "columns/grouped.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>

#include "base/declined.hpp"
#include "base/sizes.hpp"
#include "base/team.hpp"
#include "text/utf8.hpp"

namespace idealist {

namespace {

// An id that Python would accept: valid text, and not empty.
string_view checked(string_view id) {
    require(!id.empty() && !bad_utf8(id.data(), id.data() + id.size()));
    return id;
}

}  // namespace

// A position in one column, while all columns are walked together.
template <typename Cells>
class Grouped::Cursor {
  public:
    explicit Cursor(const Parts<Cells>& column) : parts_(column.parts) {}

    bool ended() const { return part_ == parts_.size(); }
    std::size_t left() const { return parts_[part_].size - begin_; }

    From<Cells> take(std::size_t size) {
        const From<Cells> taken{parts_[part_].cells.get(), begin_};
        begin_ += size;
        if (left() == 0) ++part_, begin_ = 0;
        return taken;
    }

  private:
    const std::vector<typename Parts<Cells>::Part>& parts_;
    std::size_t part_ = 0, begin_ = 0;
};

Grouped::Grouped(const Columns& columns, const Judged& judged, std::size_t threads,
                 const std::function<void()>& check, std::size_t left_out)
    : columns_(columns), left_out_(left_out) {
    divide(columns_);
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    Team team(threads);
    team.run([&](std::size_t worker) {
        Arena arena;
        std::unordered_set<std::string> unknown;
        for (std::size_t i; !team.stopped() && (i = next++) < segments_.size();) {
            read(segments_[i], judged, arena, unknown);
            if (worker == 0) check();
        }
        const std::lock_guard lock(mutex);
        unknown_.merge(unknown);
    });
    group(judged.queries());
}

// Split the rows wherever any column starts a new part, so that no part is looked up row by row.
void Grouped::divide(const Columns& columns) {
    Cursor query(columns.query), document(columns.document);
    std::vector<std::pair<std::size_t, Cursor<Numbers>>> numbers;
    for (std::size_t i = 0; i < columns.numbers.size(); ++i)
        if (!columns.numbers[i].parts.empty()) numbers.emplace_back(i, columns.numbers[i]);
    require(!query.ended());
    while (!query.ended() && !document.ended()) {
        Segment segment;
        segment.size = std::min({batch_rows, query.left(), document.left()});
        for (const auto& [_, column] : numbers) {
            require(!column.ended());
            segment.size = std::min(segment.size, column.left());
        }
        segment.query = query.take(segment.size);
        segment.document = document.take(segment.size);
        for (auto& [i, column] : numbers) segment.numbers[i] = column.take(segment.size);
        segments_.push_back(std::move(segment));
    }
    const bool together =
        std::all_of(numbers.begin(), numbers.end(), [](auto& one) { return one.second.ended(); });
    require(query.ended() && document.ended() && together);
}

// Find the query of each row; it is mostly the same as in the row before.
void Grouped::read(Segment& segment, const Judged& judged, Arena& arena,
                   std::unordered_set<std::string>& unknown) {
    arena.clear();
    segment.queries.resize(segment.size);
    string_view last;
    std::uint32_t number = no_query;
    for (std::size_t row = 0; row < segment.size; ++row) {
        const string_view query = segment.query.cells->at(segment.query.begin + row, arena);
        if (row == 0 || query != last) {
            last = checked(query);
            const auto found = judged.find_query(last);
            number = found == Judged::none ? no_query : static_cast<std::uint32_t>(found);
            if (number == no_query) unknown.emplace(last);
        }
        segment.queries[row] = number;
        checked(segment.document.cells->at(segment.document.begin + row, arena));
    }
    for (const std::size_t kind : {Columns::rank, Columns::tokens}) {
        const auto& [cells, begin] = segment.numbers[kind];
        for (std::size_t row = 0; cells && row < segment.size; ++row)
            require(!std::isnan(cells->at(begin + row)));  // NaN may stand for a missing value
    }
}

// Group the rows by query, keeping their order.
void Grouped::group(std::size_t queries) {
    starts_.assign(queries + 1, 0);
    each([&](std::size_t, std::uint32_t query) {
        if (query != no_query) ++starts_[query + 1];
    });
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    order_.resize(starts_.back());
    std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
    std::size_t all = 0;
    for (std::uint32_t i = 0; i < segments_.size(); ++i)
        for (std::uint32_t row = 0; row < segments_[i].size; ++row, ++all)
            if (const std::uint32_t query = segments_[i].queries[row];
                query != no_query && all >= left_out_)
                order_[next[query]++] = {i, row};
}

void Grouped::rank(const std::vector<Task>& tasks, Found& found, std::size_t threads,
                   const std::function<void()>& check, std::uint32_t but) const {
    std::atomic<std::size_t> next = 0;
    Team team(threads);
    team.run([&](std::size_t worker) {
        Ranker ranker(tasks, found, worker);
        Gathered gathered;
        for (std::size_t query; !team.stopped() && (query = next++) + 1 < starts_.size();) {
            if (size(query) && query != but) ranker.place(query, gathered.rows(*this, query));
            if (worker == 0 && query % 64 == 63) check();
        }
    });
}

Rows Grouped::Gathered::rows(const Grouped& grouped, std::size_t query) {
    const std::size_t size = grouped.size(query);
    const At* order = grouped.order_.data() + grouped.starts_[query];
    arena_.clear();
    documents_.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
        const From<Ids>& document = grouped.segments_[order[i].segment].document;
        documents_[i] = document.cells->at(document.begin + order[i].row, arena_);
    }
    std::array<const double*, 3> numbers{};
    for (std::size_t kind = 0; kind < numbers.size(); ++kind) {
        if (grouped.columns_.numbers[kind].parts.empty()) continue;
        numbers_[kind].resize(size);
        for (std::size_t i = 0; i < size; ++i) {
            const From<Numbers>& from = grouped.segments_[order[i].segment].numbers[kind];
            numbers_[kind][i] = from.cells->at(from.begin + order[i].row);
        }
        numbers[kind] = numbers_[kind].data();
    }
    return {documents_.data(), size, numbers[Columns::score], numbers[Columns::rank],
            numbers[Columns::tokens]};
}

}  // namespace idealist
