// Fuzz target: Arrow streams in every layout that holds ids and numbers, whole or damaged.
//
// Nothing may be read outside a buffer. Unless declined, cells must come out as they were put in.
#include "arrow_maker.hpp"
#include "columns/grouped.hpp"

using namespace idealist;

namespace {

template <typename Cells, typename Check>
void check_parts(const Parts<Cells>& parts, std::size_t rows, Check check) {
    std::size_t row = 0;
    for (const auto& part : parts.parts)
        for (std::size_t i = 0; i < part.size; ++i) check(*part.cells, i, row++);
    CHECK(row == rows);
}

Columns columns_of(const ArrowTable& table, const Maker& maker) {
    Columns columns;
    columns.query = table.ids(0);
    columns.document = table.ids(1);
    for (std::size_t i = 2; i < maker.expected.size(); ++i)
        columns.numbers[i - 2] = table.numbers(i);
    return columns;
}

void check_cells(const Columns& columns, const Maker& maker) {
    Arena arena;
    const auto ids = [&](std::size_t column) {
        return [&, column](const Ids& cells, std::size_t i, std::size_t row) {
            const string_view id = cells.at(i, arena);
            CHECK(maker.damaged || id == maker.expected[column].ids[row]);
        };
    };
    check_parts(columns.query, maker.expected[0].ids.size(), ids(0));
    check_parts(columns.document, maker.expected[1].ids.size(), ids(1));
    for (std::size_t column = 2; column < maker.expected.size(); ++column)
        check_parts(columns.numbers[column - 2], maker.expected[column].numbers.size(),
                    [&](const Numbers& cells, std::size_t i, std::size_t row) {
                        const double a = cells.at(i), b = maker.expected[column].numbers[row];
                        CHECK(a == b || (a != a && b != b));
                    });
}

// Rank with one thread and with several.
void check_ranked(const Columns& columns, const std::vector<Task>& tasks) {
    std::vector<Facts> all;
    for (const std::size_t threads : {1, 3}) {
        Found found(tasks.size(), judged_queries.size(), threads);
        Grouped(columns, judged(), threads, [] {}).rank(tasks, found, threads, [] {});
        all.push_back(facts_of(found));
    }
    CHECK(all[0] == all[1]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    string_view bytes(reinterpret_cast<const char*>(data), size);
    Choices choices(bytes);
    Protocol protocol = some_protocol(choices);
    Maker maker(choices);
    const std::size_t numbers = maker.expected.size() - 2;
    if (numbers < 2 && protocol.order == Protocol::Order::rank)
        protocol.order = Protocol::Order::score;
    protocol.in_tokens = numbers > 2;
    ArrowStream stream = maker.stream();
    try {
        ArrowTable table(stream);
        table.open();
        table.read();
        table.close();
        CHECK(table.names().size() == maker.expected.size() &&
              table.numeric().size() == table.names().size());
        const Columns columns = columns_of(table, maker);
        check_cells(columns, maker);
        if (!columns.query.parts.empty()) check_ranked(columns, {{&judged(), &protocol}});
    } catch (const Declined&) {
        CHECK(!maker.is_plain());
    }
    return 0;
}
