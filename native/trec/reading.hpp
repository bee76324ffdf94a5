// Reading: how threads share a text, whatever they do with its blocks.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/team.hpp"
#include "trec/ranked_text.hpp"

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

inline bool needs_ranks(Layout layout, const std::vector<Task>& tasks) {
    return layout == Layout::msmarco ||
           std::any_of(tasks.begin(), tasks.end(), [](const Task& task) {
               return task.protocol->order == Protocol::Order::rank;
           });
}

// Reads blocks in every thread until there are no more, or until one of them stops it.
class Reading {
  public:
    Reading(const Open& open, bool by_query, std::size_t threads, const Pause& pause)
        : input_(open()), splitter_(*input_, by_query), team_(threads), pause_(pause) {}

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

// One query's rows as they are gathered.
struct Group {
    string_view query;
    std::vector<string_view> documents;
    std::vector<double> scores, ranks;

    void clear() {
        documents.clear();
        scores.clear();
        ranks.clear();
    }

    Rows rows() const {
        return {documents.data(), documents.size(), scores.empty() ? nullptr : scores.data(),
                ranks.empty() ? nullptr : ranks.data(), nullptr};
    }
};

// Rank queries whose rows are apart.
void rank_apart(const Open& open, Layout layout, const std::vector<Task>& tasks,
                std::size_t threads, const Pause& pause, TextRanked& result);

}  // namespace idealist
