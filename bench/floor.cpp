// The floor under every evaluator that reads TREC text: nothing is ranked, measured or explained.
//
//   floor newlines RUN              read the file and count its lines
//   floor loop QRELS RUN [THREADS]  split each line, parse its score, look up its document among
//                                   the query's judged ones and among those it had before
//
// The rows of a query are together, as tools write them.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

using std::size_t, std::string_view;
using Judged = std::unordered_map<string_view, std::vector<string_view>>;

constexpr size_t BLOCK = 4 << 20, MARGIN = 1 << 18, PADDING = 8;

// The documents of one query: the judged ones, the seen ones. A new stamp empties the table.
class Documents {
    struct Slot {
        std::uint64_t hash;
        string_view id;
        std::uint32_t stamp;
        bool judged, seen;
    };
    std::vector<Slot> slots = std::vector<Slot>(2048);
    std::uint32_t stamp = 0;
    size_t used = 0;

    static std::uint64_t mix(string_view id) {  // eight bytes at a time; the text is padded
        for (std::uint64_t hash = id.size(), word;; id.remove_prefix(8)) {
            std::memcpy(&word, id.data(), 8);
            if (id.size() < 8) word &= (std::uint64_t{1} << 8 * id.size()) - 1;
            hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
            hash ^= hash >> 32;
            if (id.size() <= 8) return hash;
        }
    }

    Slot& at(std::uint64_t hash, string_view id) {
        size_t i = hash & (slots.size() - 1);
        while (slots[i].stamp == stamp && (slots[i].hash != hash || slots[i].id != id))
            i = (i + 1) & (slots.size() - 1);
        return slots[i];
    }

  public:
    void clear() { ++stamp, used = 0; }

    Slot& operator[](string_view id) {
        if (used * 2 > slots.size()) {
            std::vector<Slot> old(slots.size() * 2);
            old.swap(slots);
            for (const Slot& slot : old)
                if (slot.stamp == stamp) at(slot.hash, slot.id) = slot;
        }
        const std::uint64_t hash = mix(id);
        Slot& slot = at(hash, id);
        if (slot.stamp != stamp) slot = {hash, id, stamp, false, false}, ++used;
        return slot;
    }
};

inline string_view field(const char*& p) {
    while (*p == ' ' || *p == '\t') ++p;
    const char* start = p;
    while ((unsigned char)*p > ' ') ++p;
    return {start, size_t(p - start)};
}

inline const char* next_line(const char* p, const char* end) {
    auto newline = static_cast<const char*>(std::memchr(p, '\n', end - p));
    return newline ? newline + 1 : end;
}

// Find where a block starts, which is where the one before ends: at the first query that starts
// after the line that follows `p`.
const char* next_query(const char* p, const char* end) {
    const char* q = p = next_line(p, end);
    for (string_view query = field(q); p < end && field(q = p) == query;) p = next_line(p, end);
    return p;
}

struct alignas(128) Tally {  // one per thread, each in cache lines of its own
    size_t rows = 0, queries = 0, found = 0, repeated = 0;
    double scores = 0;

    void add(const char* p, const char* end, const Judged& judged, Documents& documents) {
        for (string_view query; p < end; p = next_line(p, end), ++rows) {
            if (string_view id = field(p); id != query) {
                query = id, ++queries, documents.clear();
                if (auto known = judged.find(id); known != judged.end())
                    for (string_view document : known->second) documents[document].judged = true;
            }
            field(p);
            auto& document = documents[field(p)];
            document.seen ? ++repeated : found += document.judged;
            document.seen = true;
            field(p);
            string_view score = field(p);
            double value = 0;
            std::from_chars(score.begin(), score.end(), value);
            scores += value;
        }
    }
};

const char* read(int file, std::vector<char>& text, size_t from, size_t to) {
    text.resize(to - from + PADDING);
    const ssize_t size = pread(file, text.data(), to - from, from);
    std::fill_n(text.begin() + size, PADDING, '\n');
    return text.data() + size;
}

void work(int file, size_t size, const Judged& judged, std::atomic<size_t>& next, Tally& tally) {
    std::vector<char> text;
    Documents documents;
    for (size_t start; (start = next.fetch_add(BLOCK)) < size;) {
        const char *end, *stop;
        size_t last = start + BLOCK;
        do {  // read on until the last query is complete
            end = read(file, text, start, last = std::min(last + MARGIN, size));
            while (end[-1] != '\n') --end;
            stop = start + BLOCK < size ? next_query(text.data() + BLOCK, end) : end;
        } while (stop == end && last < size);
        tally.add(start ? next_query(text.data(), end) : text.data(), stop, judged, documents);
    }
}

void loop(const char* qrels, const char* run, unsigned threads) {
    std::vector<char> text;
    Judged judged;
    int file = open(qrels, O_RDONLY);
    const char* end = read(file, text, 0, lseek(file, 0, SEEK_END));
    for (const char* p = text.data(); p < end; p = next_line(p, end)) {
        auto& documents = judged[field(p)];
        field(p);
        documents.push_back(field(p));
    }
    file = open(run, O_RDONLY);
    const size_t size = lseek(file, 0, SEEK_END);
    std::atomic<size_t> next = 0;
    std::vector<Tally> tallies(threads);
    std::vector<std::thread> workers;
    for (Tally& t : tallies) workers.emplace_back([&] { work(file, size, judged, next, t); });
    for (std::thread& worker : workers) worker.join();
    Tally all;
    for (const Tally& t : tallies)
        all = {all.rows + t.rows, all.queries + t.queries, all.found + t.found,
               all.repeated + t.repeated, all.scores + t.scores};
    std::printf("rows %zu queries %zu found %zu repeated %zu scores %.3f\n", all.rows, all.queries,
                all.found, all.repeated, all.scores);
}

void newlines(const char* run) {
    std::vector<char> text(1 << 20);
    size_t rows = 0;
    const int file = open(run, O_RDONLY);
    for (ssize_t size; (size = ::read(file, text.data(), text.size())) > 0;)
        for (const char *p = text.data(), *end = p + size;
             (p = static_cast<const char*>(std::memchr(p, '\n', end - p))); ++p)
            ++rows;
    std::printf("rows %zu\n", rows);
}

int main(int count, char** words) {
    if (string_view(words[1]) == "newlines")
        newlines(words[2]);
    else
        loop(words[2], words[3],
             count > 4 ? std::atoi(words[4]) : std::thread::hardware_concurrency());
}
