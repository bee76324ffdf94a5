#include "fusing/lists.hpp"
#include "ranking/judged.hpp"

namespace idealist {

Merged merge(const std::vector<Lists>& runs, std::size_t first, std::size_t last) {
    Merged found;
    found.starts.push_back(0);
    found.ends.push_back(0);
    found.lists.push_back(0);
    Index index;
    std::vector<string_view> ids;       // of all entries of a query, by the order they came
    std::vector<std::int64_t> numbers;  // the document of each
    for (std::size_t query = first; query < last; ++query) {
        std::size_t size = 0;
        for (const Lists& run : runs)
            size += static_cast<std::size_t>(run.starts[query + 1] - run.starts[query]);
        index.reset(size);
        ids.clear();
        numbers.clear();
        std::int64_t next = found.starts.back();
        for (const Lists& run : runs) {
            for (std::int64_t i = run.starts[query]; i < run.starts[query + 1]; ++i) {
                ids.push_back(run.id(i));
                const auto own = static_cast<std::uint32_t>(ids.size() - 1);
                const std::uint32_t met = index.add(hash_of(ids.back()), own, ids.data());
                if (met == own) {
                    found.text.append(ids.back());
                    found.ends.push_back(static_cast<std::int64_t>(found.text.size()));
                }
                numbers.push_back(met == own ? next++ : numbers[met]);
                found.documents.push_back(numbers.back());
                found.scores.push_back(run.scores[i]);
            }
            found.lists.push_back(static_cast<std::int64_t>(found.documents.size()));
        }
        found.starts.push_back(next);
    }
    return found;
}

}  // namespace idealist
