// Grouped: a run's rows in columns, grouped by query.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <unordered_set>
#include <vector>

#include "columns/cells.hpp"
#include "ranking/judged.hpp"
#include "ranking/ranker.hpp"

namespace idealist {

struct Columns {
    Parts<Ids> query, document;
    static constexpr std::size_t score = 0, rank = 1, tokens = 2;
    std::array<Parts<Numbers>, 3> numbers;
};

// The rows of a run, by query.
class Grouped {
  public:
    // Reads and checks every id; calls `check` now and then. The first rows may be left out.
    Grouped(const Columns& columns, const Judged& judged, std::size_t threads,
            const std::function<void()>& check, std::size_t left_out = 0);

    const std::unordered_set<std::string>& unknown() const { return unknown_; }
    std::size_t size(std::size_t query) const { return starts_[query + 1] - starts_[query]; }

    // The query of each row in turn, `no_query` if it is not judged or left out.
    template <typename See>
    void each(See see) const {
        std::size_t row = 0;
        for (const Segment& segment : segments_)
            for (const std::uint32_t query : segment.queries)
                see(row, row < left_out_ ? no_query : query), ++row;
    }
    static constexpr std::uint32_t no_query = std::numeric_limits<std::uint32_t>::max();

    // Rank every judged query but one.
    void rank(const std::vector<Task>& tasks, Found& found, std::size_t threads,
              const std::function<void()>& check, std::uint32_t but = no_query) const;

    // One query's rows, in memory that is reused for the next.
    class Gathered {
      public:
        Rows rows(const Grouped& grouped, std::size_t query);

      private:
        Arena arena_;
        std::vector<string_view> documents_;
        std::array<std::vector<double>, 3> numbers_;
    };

  private:
    // Rows that are contiguous in every column.
    template <typename Cells>
    struct From {
        const Cells* cells = nullptr;
        std::size_t begin = 0;
    };
    struct Segment {
        std::size_t size = 0;
        From<Ids> query, document;
        std::array<From<Numbers>, 3> numbers;
        std::vector<std::uint32_t> queries;
    };
    struct At {
        std::uint32_t segment, row;
    };
    template <typename Cells>
    class Cursor;

    void divide(const Columns& columns);
    static void read(Segment& segment, const Judged& judged, Arena& arena,
                     std::unordered_set<std::string>& unknown);
    void group(std::size_t queries);

    Columns columns_;
    std::size_t left_out_;
    std::vector<Segment> segments_;
    std::unordered_set<std::string> unknown_;
    std::vector<std::size_t> starts_;
    std::vector<At> order_;
};

}  // namespace idealist
