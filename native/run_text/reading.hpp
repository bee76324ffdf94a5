// Reading: how threads share a text, whatever they do with its blocks.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/declined.hpp"
#include "base/team.hpp"
#include "run_text/ranked_text.hpp"

namespace idealist {

using Names = std::unordered_set<std::string>;

// Collects the names of queries; the same name often comes many times in a row.
class Noted {
  public:
    void operator()(string_view name) {
        if (name == last_) return;
        last_ = *names.emplace(name).first;
    }

    Names names;

  private:
    string_view last_;
};

// The numbers of a layout that some tasks need; declined if it lacks one.
inline ByNumber<bool> needed(const Layout& layout, const std::vector<Task>& tasks) {
    const auto any = [&](auto is_so) {
        return std::any_of(tasks.begin(), tasks.end(),
                           [&](const Task& task) { return is_so(*task.protocol); });
    };
    const ByNumber<bool> has = layout.numbers();
    const bool by_rank =
        any([](const Protocol& one) { return one.order == Protocol::Order::rank; });
    const bool by_tokens = any([](const Protocol& one) { return one.in_tokens; });
    require((has[rank_of_row] || !by_rank) && (has[tokens_of_row] || !by_tokens));
    return {has[score_of_row], by_rank || (has[rank_of_row] && !has[score_of_row]), by_tokens};
}

// Reads blocks in every thread until there are no more, or until one of them stops it.
class Reading {
  public:
    Reading(const Open& open, const Layout& layout, bool by_query, std::size_t threads,
            const Pause& pause)
        : input_(open()), splitter_(*input_, layout, by_query), team_(threads), pause_(pause) {}

    // `work(worker)` makes the function that a thread calls with each of its blocks.
    template <typename Work>
    void run(Work work) {
        team_.run([&](std::size_t worker) {
            auto step = work(worker);
            Block block;
            while (!team_.stopped() && splitter_.next(block)) {
                Report mine;
                step(block, mine);
                if (worker == 0) pause_();
                const std::lock_guard lock(mutex_);
                report_.add(mine);
            }
        });
    }

    Report finished() {
        report_.bytes = splitter_.bytes();
        report_.shortened = splitter_.shortened();
        return std::move(report_);
    }

    void stop() { team_.stop(); }
    std::mutex& mutex() { return mutex_; }

  private:
    std::unique_ptr<Input> input_;
    Splitter splitter_;
    Team team_;
    const Pause& pause_;
    std::mutex mutex_;
    Report report_;
};

// One query's rows as they are gathered, with the numbers that are kept.
struct Group {
    explicit Group(const ByNumber<bool>& kept) : kept(kept) {}

    void add(string_view document, const ByNumber<double>& values) {
        documents.push_back(document);
        for (std::size_t i = 0; i < kept.size(); ++i)
            if (kept[i]) numbers[i].push_back(values[i]);
    }

    void clear() {
        documents.clear();
        for (std::vector<double>& some : numbers) some.clear();
    }

    Rows rows() const {
        const auto data = [&](std::size_t i) { return kept[i] ? numbers[i].data() : nullptr; };
        return {documents.data(), documents.size(), data(score_of_row), data(rank_of_row),
                data(tokens_of_row)};
    }

    ByNumber<bool> kept;
    std::vector<string_view> documents;
    ByNumber<std::vector<double>> numbers;
};

// Rank queries whose rows are apart.
void rank_apart(const Open& open, const Layout& layout, const std::vector<Task>& tasks,
                std::size_t threads, const Pause& pause, TextRanked& result);

}  // namespace idealist
