// Team: the threads that share one piece of work; the caller is one of them.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace idealist {

class Team {
  public:
    explicit Team(std::size_t threads) : threads_(threads < 1 ? 1 : threads) {}

    std::size_t size() const { return threads_; }

    // Whether the others should stop: something was thrown, or there is no point in going on.
    bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
    void stop() { stopped_.store(true, std::memory_order_relaxed); }

    // Do the work in every thread, the caller being number 0; rethrow the first exception.
    void run(const std::function<void(std::size_t)>& work) {
        std::vector<std::thread> others;
        others.reserve(threads_ - 1);
        const auto guarded = [&](std::size_t worker) {
            try {
                work(worker);
            } catch (...) {
                const std::lock_guard lock(mutex_);
                if (!thrown_) thrown_ = std::current_exception();
                stop();
            }
        };
        try {
            for (std::size_t worker = 1; worker < threads_; ++worker)
                others.emplace_back(guarded, worker);
        } catch (const std::system_error&) {
            // the system has no more threads to give: make do with the ones we have
        }
        guarded(0);
        for (std::thread& other : others) other.join();
        if (thrown_) std::rethrow_exception(thrown_);
    }

  private:
    std::size_t threads_;
    std::atomic<bool> stopped_ = false;
    std::mutex mutex_;
    std::exception_ptr thrown_;
};

}  // namespace idealist
