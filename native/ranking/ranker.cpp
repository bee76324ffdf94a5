#include "ranking/ranker.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace idealist {

namespace {

constexpr std::uint64_t last_key = ~std::uint64_t{0};

// Map a number to an integer that sorts the same way. Both zeros are equal; all NaN are equal and
// come last.
std::uint64_t key_of(double number) {
    if (std::isnan(number)) return last_key;
    const auto bits = std::bit_cast<std::uint64_t>(number + 0.0);
    return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
}

bool is_refused(double key, Protocol::Nonfinite rule) {
    if (rule == Protocol::Nonfinite::last) return false;
    return rule == Protocol::Nonfinite::as_is ? std::isnan(key) : !std::isfinite(key);
}

bool is_whole(double rank) {
    return std::isfinite(rank) && std::trunc(rank) == rank;
}

// What orders the rows: without scores, their ranks; without ranks, the order they came in.
Protocol::Order ordered_by(const Rows& rows, const Protocol& protocol) {
    if (protocol.order != Protocol::Order::score || rows.scores) return protocol.order;
    return rows.ranks ? Protocol::Order::rank : Protocol::Order::given;
}

}  // namespace

Ranker::Ranker(const std::vector<Task>& tasks, Found& found, std::size_t worker)
    : tasks_(tasks),
      found_(found),
      worker_(worker),
      alike_(std::all_of(tasks.begin(), tasks.end(),
                         [&](const Task& task) { return task.judged == tasks.front().judged; })) {
}

void Ranker::place(std::size_t query, const Rows& rows) {
    query_ = query;
    rows_ = rows;
    hash_rows();
    for (std::size_t task = 0; task < tasks_.size(); ++task) {
        if (tasks_[task].protocol->beside >= 0) continue;
        place_under(task);
        if (!found_.listed[task][query].float32) continue;
        for (std::size_t other = task + 1; other < tasks_.size(); ++other)
            if (tasks_[other].protocol->beside == static_cast<int>(task)) place_beside(task, other);
    }
}

void Ranker::hash_rows() {
    row_hashes_.resize(rows_.size);
    repeats_ = false;
    std::transform(rows_.documents, rows_.documents + rows_.size, row_hashes_.begin(), hash_of);
    if (alike_) {
        const Judged& judged = *tasks_.front().judged;
        judgments_.resize(rows_.size);
        for (std::size_t row = 0; row < rows_.size; ++row)
            judgments_[row] = judged.find(query_, row_hashes_[row], rows_.documents[row]);
    }
    if (rows_.distinct) return;
    first_rows_.resize(rows_.size);
    index_.reset(rows_.size);
    for (std::uint32_t row = 0; row < rows_.size; ++row) {
        first_rows_[row] = index_.add(row_hashes_[row], row, rows_.documents);
        repeats_ |= first_rows_[row] != row;
    }
}

void Ranker::place_under(std::size_t task) {
    const Protocol& protocol = *tasks_[task].protocol;
    Listed& listed = found_.listed[task][query_];
    listed.in_run = true;
    take_rows(protocol, listed);
    set_keys(protocol, listed);
    set_documents(protocol);
    if (protocol.exclude_self) leave_out_self();
    sort();
    listed.float32 = float32_ties(protocol);
    const bool spends = protocol.budget >= 0;
    if (spends) {
        break_ties(tasks_[task], true, listed);
        spend(protocol, listed);
    }
    const std::size_t chunks = kept_.size();
    if (protocol.whole) collapse();
    listed.merged = static_cast<std::int64_t>(chunks - kept_.size());
    if (spends || protocol.whole) sort();
    const std::int64_t faults = listed.faults;
    listed.ties = false;
    break_ties(tasks_[task], protocol.named > 0, listed);
    if (spends) listed.faults = faults;  // these ties have already been counted
    write(task, listed);
}

// Rank the same list in the other precision. What float64 has put in order, float32 only ties.
void Ranker::place_beside(std::size_t task, std::size_t other) {
    const Protocol& protocol = *tasks_[other].protocol;
    if (!protocol.single || protocol.budget >= 0 || protocol.whole) return place_under(other);
    Listed& listed = found_.listed[other][query_] = found_.listed[task][query_];
    listed.faults = 0;
    listed.ties = false;
    tied_ = true;
    for (Entry& entry : ranked_)
        entry.key = key_of(-static_cast<float>(rows_.scores[kept_[entry.place]]));
    const auto end = ranked_.end();
    for (auto first = ranked_.begin(), last = first; first != end; first = last) {
        while (++last != end && last->key == first->key) {
        }
        if (last - first > 1)
            std::sort(first, last,
                      [](const Entry& a, const Entry& b) { return a.place < b.place; });
    }
    break_ties(tasks_[other], false, listed);
    write(other, listed);
}

// Take one row for each document.
void Ranker::take_rows(const Protocol& protocol, Listed& listed) {
    kept_.resize(rows_.size);
    std::iota(kept_.begin(), kept_.end(), 0u);
    if (!repeats_) return;
    if (protocol.duplicates == Protocol::Duplicates::last) {
        places_.assign(kept_.begin(), kept_.end());
        for (std::uint32_t row = 0; row < rows_.size; ++row) places_[first_rows_[row]] = row;
        std::erase_if(kept_, [&](std::uint32_t row) { return places_[first_rows_[row]] != row; });
    } else {
        std::erase_if(kept_, [&](std::uint32_t row) { return first_rows_[row] != row; });
    }
    listed.duplicates = static_cast<std::int64_t>(rows_.size - kept_.size());
    if (protocol.duplicates == Protocol::Duplicates::error) listed.faults += listed.duplicates;
}

void Ranker::set_keys(const Protocol& protocol, Listed& listed) {
    keys_.resize(kept_.size());
    switch (ordered_by(rows_, protocol)) {
        case Protocol::Order::given:
            std::copy(kept_.begin(), kept_.end(), keys_.begin());
            break;
        case Protocol::Order::rank:
            for (std::size_t i = 0; i < kept_.size(); ++i) {
                const double rank = rows_.ranks[kept_[i]];
                listed.faults += !is_whole(rank);
                keys_[i] = key_of(rank);
            }
            break;
        case Protocol::Order::score:
            for (std::size_t i = 0; i < kept_.size(); ++i) {
                const double score = rows_.scores[kept_[i]];
                const double key = -(protocol.single ? static_cast<float>(score) : score);
                listed.faults += is_refused(key, protocol.nonfinite);
                keys_[i] = key_of(key);
            }
    }
}

void Ranker::set_documents(const Protocol& protocol) {
    documents_of_ = rows_.documents;
    hashes_of_ = row_hashes_.data();
    wholes_.clear();
    if (kept_.size() == rows_.size && !protocol.whole) return;
    documents_.resize(kept_.size());
    hashes_.resize(kept_.size());
    for (std::size_t i = 0; i < kept_.size(); ++i) {
        documents_[i] = rows_.documents[kept_[i]];
        hashes_[i] = row_hashes_[kept_[i]];
    }
    documents_of_ = documents_.data();
    hashes_of_ = hashes_.data();
    if (!protocol.whole) return;
    arena_.clear();
    protocol.whole(documents_, arena_, wholes_);
}

// Keep only these entries, in this order.
void Ranker::keep(const std::vector<std::uint32_t>& places) {
    spare_kept_.clear();
    spare_keys_.clear();
    spare_documents_.clear();
    spare_hashes_.clear();
    spare_wholes_.clear();
    for (const std::uint32_t place : places) {
        if (!wholes_.empty()) spare_wholes_.push_back(wholes_[place]);
        spare_kept_.push_back(kept_[place]);
        spare_keys_.push_back(keys_[place]);
        spare_documents_.push_back(documents_of_[place]);
        spare_hashes_.push_back(hashes_of_[place]);
    }
    kept_.swap(spare_kept_);
    keys_.swap(spare_keys_);
    documents_.swap(spare_documents_);
    hashes_.swap(spare_hashes_);
    wholes_.swap(spare_wholes_);
    documents_of_ = documents_.data();
    hashes_of_ = hashes_.data();
}

void Ranker::leave_out_self() {
    const string_view name = tasks_.front().judged->query(query_);
    places_.clear();
    for (std::uint32_t place = 0; place < kept_.size(); ++place)
        if ((wholes_.empty() ? documents_of_[place] : wholes_[place]) != name)
            places_.push_back(place);
    if (places_.size() < kept_.size()) keep(places_);
}

// Keep the top of the ranking, as far as the total length stays within the budget.
void Ranker::spend(const Protocol& protocol, Listed& listed) {
    marked_.assign(kept_.size(), 0);
    double spent = 0;
    for (const Entry& entry : ranked_) {
        double length = protocol.in_tokens ? rows_.tokens[kept_[entry.place]] : 1;
        if (!std::isfinite(length) || length < 0) {
            ++listed.faults;
            length = 0;
        }
        spent += length;
        marked_[entry.place] = spent <= protocol.budget;
    }
    places_.clear();
    for (std::uint32_t place = 0; place < kept_.size(); ++place)
        if (marked_[place]) places_.push_back(place);
    keep(places_);
}

// Let each document's best chunk stand for it, in the place of its first chunk.
void Ranker::collapse() {
    std::transform(wholes_.begin(), wholes_.end(), hashes_.begin(), hash_of);
    documents_.swap(wholes_);
    documents_of_ = documents_.data();
    index_.reset(kept_.size());
    std::vector<std::uint32_t> best(kept_.size());
    places_.clear();
    for (std::uint32_t place = 0; place < kept_.size(); ++place) {
        const std::uint32_t first = index_.add(hashes_of_[place], place, documents_of_);
        if (first == place) places_.push_back(place);
        if (first == place || keys_[place] < keys_[best[first]]) best[first] = place;
    }
    for (std::uint32_t& place : places_) place = best[place];
    keep(places_);
}

void Ranker::write(std::size_t task, Listed& listed) {
    std::vector<Place>& places = found_.places[worker_][task];
    listed.worker = static_cast<std::uint32_t>(worker_);
    listed.begin = places.size();
    Unjudged& names = found_.names[worker_][task];
    listed.names_begin = names.ends.size();
    std::size_t unnamed = tasks_[task].protocol->named;
    listed.retrieved = static_cast<std::int64_t>(ranked_.size());
    const std::size_t size = ranked_.size();
    std::size_t begin = 0, end = 0;  // of the tie
    for (std::size_t i = 0; i < size; ++i) {
        const auto found = judgment(tasks_[task], ranked_[i].place);
        const double score = rows_.scores ? rows_.scores[kept_[ranked_[i].place]]
                                          : std::numeric_limits<double>::quiet_NaN();
        if (found == Judged::none) {
            if (unnamed > 0 && unnamed--) names.add(documents_of_[ranked_[i].place], score);
            continue;
        }
        if (i >= end) {
            for (begin = i; begin > end && ranked_[begin - 1].key == ranked_[i].key;) --begin;
            for (end = i + 1; end < size && ranked_[end].key == ranked_[i].key;) ++end;
        }
        const auto rank = static_cast<std::int64_t>(i + 1);
        places.push_back({rank, static_cast<std::int64_t>(begin + 1),
                          static_cast<std::int64_t>(end), found, score});
    }
    listed.places = places.size() - listed.begin;
    listed.names = names.ends.size() - listed.names_begin;
}

}  // namespace idealist
