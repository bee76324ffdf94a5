// Judgments: rows of query, document and grade, sorted into a table.
//
// The definition is in Python, `idealist.data.Qrels.build`.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/hash.hpp"

namespace idealist {

// Judged documents by query, both sorted by their bytes, which is the order of Python's texts.
struct Judgments {
    std::vector<string_view> queries, documents;
    std::vector<std::int64_t> starts;  // of each query's documents, followed by the end
    std::vector<double> grades;
    std::size_t repeats = 0;  // rows that said again what another had said
};

// Rows as they come. The memory of the ids is someone else's.
class JudgmentRows {
  public:
    void reserve(std::size_t rows) { rows_.reserve(rows); }

    // Declines a grade that is not a number of a usual size.
    void add(string_view query, string_view document, double grade);

    // Sort all rows into a table; declines if there are none, or if two contradict each other.
    Judgments sorted() const;

  private:
    struct Row {
        string_view document;
        double grade;
        std::uint32_t query;
    };
    struct Hash {
        std::size_t operator()(string_view id) const { return hash_of(id); }
    };

    std::vector<Row> rows_;
    std::vector<string_view> queries_;
    std::unordered_map<string_view, std::uint32_t, Hash> numbers_;
    std::uint32_t last_ = 0;
};

// Read TREC's qrels, lines of query, iteration, document and grade, which are valid text. Declines
// faults, and iterations that mean something.
Judgments read_qrels(string_view text);

}  // namespace idealist
