// Judgments in text: rows whose score is the grade.
#include "run_text/ranked_text.hpp"

namespace idealist {

Judgments read_judgments(const Open& open, const Layout& layout, Arena& ids, const Pause& pause) {
    const auto input = open();
    Splitter splitter(*input, layout, false);
    JudgmentRows rows;
    Report report;
    Arena decoded;
    for (Block block; splitter.next(block); pause()) {
        string_view query;
        decoded.clear();
        read_block(block, layout, false, decoded, report, [&](std::size_t, const Row& row) {
            if (row.query != query) query = ids.copy(row.query);
            rows.add(query, ids.copy(row.document), row.numbers[score_of_row]);
        });
    }
    return rows.sorted();
}

}  // namespace idealist
