// How a ranker sorts its entries and breaks ties.
#include <algorithm>
#include <array>
#include <numeric>

#include "base/sizes.hpp"
#include "ranking/ranker.hpp"

namespace idealist {

// Sort by key; tied entries stay in the order they came.
void Ranker::sort() {
    ranked_.resize(kept_.size());
    in_order_ = true;
    tied_ = false;
    for (std::uint32_t place = 0; place < kept_.size(); ++place) {
        in_order_ &= place == 0 || keys_[place - 1] <= keys_[place];
        tied_ |= place > 0 && keys_[place - 1] == keys_[place];
        ranked_[place] = {keys_[place], place};
    }
    if (in_order_) return;
    if (ranked_.size() > few)
        sort_by_radix();
    else
        std::sort(ranked_.begin(), ranked_.end(), [](const Entry& a, const Entry& b) {
            return a.key < b.key || (a.key == b.key && a.place < b.place);
        });
    const auto same = [](const Entry& a, const Entry& b) { return a.key == b.key; };
    tied_ = std::adjacent_find(ranked_.begin(), ranked_.end(), same) != ranked_.end();
}

// Sort byte by byte from the lowest; a byte that all keys share needs no pass.
void Ranker::sort_by_radix() {
    std::array<std::array<std::uint32_t, 256>, 8> counts{};
    for (const Entry& entry : ranked_)
        for (int byte = 0; byte < 8; ++byte) ++counts[byte][entry.key >> (8 * byte) & 255];
    spare_ranked_.resize(ranked_.size());
    for (int byte = 0; byte < 8; ++byte) {
        auto& count = counts[byte];
        if (count[ranked_[0].key >> (8 * byte) & 255] == ranked_.size()) continue;
        std::exclusive_scan(count.begin(), count.end(), count.begin(), 0u);
        for (const Entry& entry : ranked_)
            spare_ranked_[count[entry.key >> (8 * byte) & 255]++] = entry;
        ranked_.swap(spare_ranked_);
    }
}

// Break every tie, or only those that hold a judged document.
void Ranker::break_ties(const Task& task, bool all, Listed& listed) {
    if (!tied_) return;
    const std::size_t size = ranked_.size();
    for (std::size_t begin = 0, end; begin < size; begin = end) {
        for (end = begin + 1; end < size && ranked_[end].key == ranked_[begin].key;) ++end;
        if (end == begin + 1) continue;
        listed.ties = true;
        listed.faults += task.protocol->refuse_ties;
        if (all || is_judged(task, begin, end)) order_tie(*task.protocol, begin, end);
    }
}

bool Ranker::is_judged(const Task& task, std::size_t begin, std::size_t end) const {
    return std::any_of(ranked_.begin() + static_cast<std::ptrdiff_t>(begin),
                       ranked_.begin() + static_cast<std::ptrdiff_t>(end), [&](const Entry& entry) {
                           return judgment(task, entry.place) != Judged::none;
                       });
}

void Ranker::order_tie(const Protocol& protocol, std::size_t begin, std::size_t end) {
    const auto first = ranked_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = ranked_.begin() + static_cast<std::ptrdiff_t>(end);
    const auto id = [&](const Entry& entry) { return documents_of_[entry.place]; };
    switch (protocol.ties) {
        case Protocol::Ties::input:
            break;
        case Protocol::Ties::reversed:
            std::reverse(first, last);
            break;
        case Protocol::Ties::ascending:
            std::sort(first, last, [&](auto& a, auto& b) { return id(a) < id(b); });
            break;
        case Protocol::Ties::descending:
            std::sort(first, last, [&](auto& a, auto& b) { return id(a) > id(b); });
            break;
        case Protocol::Ties::random: {
            const string_view query = tasks_.front().judged->query(query_);
            drawn_.clear();
            for (auto entry = first; entry != last; ++entry)
                drawn_.emplace_back(draw(protocol.seed, query, id(*entry)), *entry);
            std::sort(drawn_.begin(), drawn_.end(),
                      [](auto& a, auto& b) { return a.first < b.first; });
            std::transform(drawn_.begin(), drawn_.end(), first,
                           [](auto& one) { return one.second; });
        }
    }
}

// Whether two different scores are equal in float32. Entries are sorted; ties are not yet broken.
bool Ranker::float32_ties(const Protocol& protocol) const {
    if (protocol.order != Protocol::Order::score || !rows_.scores) return false;
    const auto merges = [](double a, double b) {
        return a != b && static_cast<float>(a) == static_cast<float>(b);
    };
    if (in_order_ && kept_.size() == rows_.size) {
        const double* end = rows_.scores + rows_.size;
        return std::adjacent_find(rows_.scores, end, merges) != end;
    }
    const auto score = [&](const Entry& entry) { return rows_.scores[kept_[entry.place]]; };
    return std::adjacent_find(ranked_.begin(), ranked_.end(), [&](const Entry& a, const Entry& b) {
               return merges(score(a), score(b));
           }) != ranked_.end();
}

}  // namespace idealist
