// Ranker: orders one query's rows under each protocol and finds the judged documents among them.
//
// The definition is in Python, `idealist.ranking.order`; the steps come in the same order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ranking/draw.hpp"
#include "ranking/judged.hpp"

namespace idealist {

// One query's rows in the order they came; a missing column is null.
struct Rows {
    const string_view* documents;
    std::size_t size;
    const double* scores;
    const double* ranks;
    const double* tokens;
    bool distinct = false;  // no document can come twice
};

// Finds the document each chunk belongs to, in the order of the chunks.
using Whole = std::function<void(const std::vector<string_view>& chunks, Arena& arena,
                                 std::vector<string_view>& documents)>;

struct Protocol {
    enum class Order { score, rank, given };
    enum class Ties { descending, ascending, input, reversed, random };
    enum class Duplicates { error, first, last };
    enum class Nonfinite { error, as_is, last };

    bool single = false;  // scores are compared in float32
    Order order = Order::score;
    Ties ties = Ties::descending;
    bool refuse_ties = false;
    std::string seed;
    Duplicates duplicates = Duplicates::error;
    Nonfinite nonfinite = Nonfinite::error;
    double budget = -1;  // negative: no budget
    bool in_tokens = false;
    bool exclude_self = false;
    Whole whole;            // empty: nothing is collapsed
    std::size_t named = 0;  // how many of a query's unjudged documents are named, from the top
    int beside = -1;        // the task that ranks like this, except where float32 ties scores
};

// A judged document that was found.
struct Place {
    std::int64_t rank, first, last, judgment;
    double score;
};

// What is known about a query under a protocol; its places start at `begin` in the worker's list.
struct Listed {
    std::int64_t retrieved = 0, duplicates = 0, merged = 0, faults = 0;
    bool in_run = false, ties = false, float32 = false;
    std::uint32_t worker = 0;
    std::size_t begin = 0, places = 0;
    std::size_t names_begin = 0, names = 0;
};

// Ids of unjudged documents, one after the other in the text, where each ends, and their scores.
struct Unjudged {
    std::string text;
    std::vector<std::size_t> ends;
    std::vector<double> scores;

    void add(string_view id, double score) {
        text.append(id);
        ends.push_back(text.size());
        scores.push_back(score);
    }
};

// What is asked: judgments and a protocol.
struct Task {
    const Judged* judged;
    const Protocol* protocol;
};

// Everything the workers find: by task and query, and by worker and task.
struct Found {
    Found(std::size_t tasks, std::size_t queries, std::size_t workers)
        : listed(tasks, std::vector<Listed>(queries)),
          places(workers, std::vector<std::vector<Place>>(tasks)),
          names(workers, std::vector<Unjudged>(tasks)) {}

    std::vector<std::vector<Listed>> listed;
    std::vector<std::vector<std::vector<Place>>> places;
    std::vector<std::vector<Unjudged>> names;
};

// One worker's ranker, with memory that it reuses for every query.
class Ranker {
  public:
    Ranker(const std::vector<Task>& tasks, Found& found, std::size_t worker);

    // Rank one query under all protocols.
    void place(std::size_t query, const Rows& rows);

  private:
    // A document to be ranked: smallest key first; equal keys are tied.
    struct Entry {
        std::uint64_t key;
        std::uint32_t place;  // its index among the entries in the order they came
    };

    void hash_rows();
    void place_under(std::size_t task);
    void place_beside(std::size_t task, std::size_t other);
    void take_rows(const Protocol& protocol, Listed& listed);
    void set_keys(const Protocol& protocol, Listed& listed);
    void set_documents(const Protocol& protocol);
    void keep(const std::vector<std::uint32_t>& places);
    void leave_out_self();
    void spend(const Protocol& protocol, Listed& listed);
    void collapse();
    void sort();
    void sort_by_radix();
    void break_ties(const Task& task, bool all, Listed& listed);
    bool is_judged(const Task& task, std::size_t begin, std::size_t end) const;
    void order_tie(const Protocol& protocol, std::size_t begin, std::size_t end);
    bool float32_ties(const Protocol& protocol) const;
    void write(std::size_t task, Listed& listed);

    std::int64_t judgment(const Task& task, std::uint32_t place) const {
        if (alike_ && !task.protocol->whole) return judgments_[kept_[place]];
        return task.judged->find(query_, hashes_of_[place], documents_of_[place]);
    }

    const std::vector<Task>& tasks_;
    Found& found_;
    std::size_t worker_;
    bool alike_;  // whether all tasks have the same judgments

    // The query and its rows, the same under every protocol.
    std::size_t query_ = 0;
    Rows rows_{};
    bool repeats_ = false;
    std::vector<std::uint64_t> row_hashes_;
    std::vector<std::uint32_t> first_rows_;  // for each row, the first with the same document
    std::vector<std::int64_t> judgments_;    // of each row, if all tasks have the same

    // The entries under a protocol in the order they came: row, key, document and its hash; and the
    // document each is a chunk of, if chunks are to be collapsed.
    std::vector<std::uint32_t> kept_;
    std::vector<std::uint64_t> keys_;
    const string_view* documents_of_ = nullptr;
    const std::uint64_t* hashes_of_ = nullptr;
    std::vector<string_view> wholes_;

    // The ranked entries; whether they came in that order, and whether any are tied.
    std::vector<Entry> ranked_;
    bool in_order_ = false, tied_ = false;

    // Memory that is reused.
    Index index_;
    Arena arena_;
    std::vector<string_view> documents_, spare_documents_, spare_wholes_;
    std::vector<std::uint64_t> hashes_, spare_hashes_, spare_keys_;
    std::vector<std::uint32_t> places_, spare_kept_;
    std::vector<char> marked_;
    std::vector<Entry> spare_ranked_;
    std::vector<std::pair<Digest, Entry>> drawn_;
};

}  // namespace idealist
