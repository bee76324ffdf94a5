// Judged: the judged documents of each query, looked up by the exact bytes of their ids.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/arena.hpp"
#include "text/hash.hpp"

namespace idealist {

// Ids numbered in the order they came, looked up by open addressing.
class Index {
  public:
    // `size` is the greatest number of ids that will be added.
    void reset(std::size_t size);

    // Give an id this number, or return the number it already has.
    std::uint32_t add(std::uint64_t hash, std::uint32_t number, const string_view* ids);

  private:
    struct Slot {
        std::uint32_t tag, number;
    };
    std::vector<Slot> slots_;
    std::size_t mask_ = 0;
};

class Judged {
  public:
    static constexpr std::int64_t none = -1;

    // The documents of queries[i] are documents[starts[i]:starts[i + 1]]; the ids are copied.
    Judged(const std::vector<string_view>& queries, std::span<const std::int64_t> starts,
           const std::vector<string_view>& documents);

    std::size_t queries() const { return queries_.size(); }
    string_view query(std::size_t i) const { return queries_[i]; }

    // The number of a query, or none.
    std::int64_t find_query(string_view id) const {
        return find(query_table_, 0, hash_of(id), id, queries_);
    }

    // The judgment of a document, or none.
    std::int64_t find(std::size_t query, std::uint64_t hash, string_view id) const {
        return find(table_, query, hash, id, documents_);
    }

  private:
    // Consecutive tables; group i has slots[begins[i]:begins[i + 1]], whose size is a power of 2.
    struct Slot {
        std::uint32_t tag, number;  // the number plus one, so that 0 marks an empty slot
    };
    struct Table {
        std::vector<std::size_t> begins;
        std::vector<Slot> slots;
    };

    static Table table_of(std::span<const std::int64_t> starts,
                          const std::vector<string_view>& ids);

    static std::int64_t find(const Table& table, std::size_t group, std::uint64_t hash,
                             string_view id, const std::vector<string_view>& ids) {
        const std::size_t begin = table.begins[group], size = table.begins[group + 1] - begin;
        if (size == 0) return none;
        for (std::size_t at = hash & (size - 1);; at = (at + 1) & (size - 1)) {
            const Slot slot = table.slots[begin + at];
            if (slot.number == 0) return none;
            if (slot.tag == static_cast<std::uint32_t>(hash >> 32) && ids[slot.number - 1] == id)
                return slot.number - 1;
        }
    }

    Arena arena_;
    std::vector<string_view> queries_, documents_;
    Table query_table_, table_;
};

}  // namespace idealist
