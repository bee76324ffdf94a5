#include "ranking/judged.hpp"

#include <bit>
#include <cstring>

namespace idealist {

void Index::reset(std::size_t size) {
    const std::size_t room = std::bit_ceil(size * 2 + 1);
    if (slots_.size() < room) slots_.resize(room);
    mask_ = room - 1;
    std::memset(slots_.data(), 0, room * sizeof(Slot));
}

std::uint32_t Index::add(std::uint64_t hash, std::uint32_t number, const string_view* ids) {
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
        Slot& slot = slots_[at];
        if (slot.number == 0) {
            slot = {tag, number + 1};
            return number;
        }
        if (slot.tag == tag && ids[slot.number - 1] == ids[number]) return slot.number - 1;
    }
}

Judged::Judged(const std::vector<string_view>& queries, std::span<const std::int64_t> starts,
               const std::vector<string_view>& documents) {
    queries_.reserve(queries.size());
    documents_.reserve(documents.size());
    for (const string_view id : queries) queries_.push_back(arena_.copy(id));
    for (const string_view id : documents) documents_.push_back(arena_.copy(id));
    const std::int64_t all[] = {0, static_cast<std::int64_t>(queries.size())};
    query_table_ = table_of(all, queries_);
    table_ = table_of(starts, documents_);
}

Judged::Table Judged::table_of(std::span<const std::int64_t> starts,
                               const std::vector<string_view>& ids) {
    Table table;
    table.begins.push_back(0);
    for (std::size_t group = 0; group + 1 < starts.size(); ++group) {
        const auto size = static_cast<std::size_t>(starts[group + 1] - starts[group]);
        // Most documents are not judged: in a sparse table most lookups end at an empty slot.
        const std::size_t begin = table.begins.back(),
                          room = size ? std::bit_ceil(size * 8 + 8) : 0;
        table.begins.push_back(begin + room);
        table.slots.resize(begin + room);
        for (auto i = static_cast<std::size_t>(starts[group]);
             size && i < static_cast<std::size_t>(starts[group + 1]); ++i) {
            const std::uint64_t hash = hash_of(ids[i]);
            std::size_t at = hash & (room - 1);
            while (table.slots[begin + at].number) at = (at + 1) & (room - 1);
            table.slots[begin + at] = {static_cast<std::uint32_t>(hash >> 32),
                                       static_cast<std::uint32_t>(i + 1)};
        }
    }
    return table;
}

}  // namespace idealist
