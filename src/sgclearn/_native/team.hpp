// A team of threads that share out rows, for the time of one call.
//
// Not OpenMP: its runtime would meet the one that numpy, scikit-learn or torch bring along, and
// ThreadSanitizer cannot see through it. Every row is computed whole by one thread, so that results
// do not depend on how many threads there are.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace sgc {

class Team {
  public:
    using Poll = std::function<bool()>;  // asked now and then by the calling thread: true means stop

    Team(int n_threads, Poll poll) : poll_(std::move(poll)), last_poll_(Clock::now()) {
        try {
            for (int t = 1; t < n_threads; ++t) workers_.emplace_back([this, t] { work(t); });
        } catch (const std::system_error&) {
            // The system gives no more threads: those there are do the work.
        }
    }

    ~Team() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            leaving_ = true;
        }
        start_.notify_all();
        for (auto& worker : workers_) worker.join();
    }

    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int size() const { return static_cast<int>(workers_.size()) + 1; }
    void stop() { stop_.store(true, std::memory_order_relaxed); }
    bool stopped() const { return stop_.load(std::memory_order_relaxed); }

    // body(first, last, thread) over chunks of 0..n, taken by whoever is free; returns when all are done.
    void share(int64_t n, int64_t grain, const std::function<void(int64_t, int64_t, int)>& body) {
        body_ = &body;
        n_ = n;
        grain_ = std::max<int64_t>(grain, 1);
        next_.store(0, std::memory_order_relaxed);
        if (workers_.empty() || n <= grain_) {
            chunks(0);
            return;
        }
        {
            std::lock_guard<std::mutex> lock(mutex_);
            busy_ = static_cast<int>(workers_.size());
            ++round_;
        }
        start_.notify_all();
        chunks(0);
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, [this] { return busy_ == 0; });
    }

    // Asks whether to stop, at most ten times a second; only the calling thread may.
    void check() {
        const auto now = Clock::now();
        if (now - last_poll_ < std::chrono::milliseconds(100)) return;
        last_poll_ = now;
        if (poll_ && poll_()) stop();
    }

  private:
    using Clock = std::chrono::steady_clock;

    void chunks(int thread) {
        while (!stopped()) {
            const int64_t first = next_.fetch_add(grain_, std::memory_order_relaxed);
            if (first >= n_) return;
            (*body_)(first, std::min(first + grain_, n_), thread);
            if (thread == 0) check();
        }
    }

    void work(int thread) {
        uint64_t seen = 0;
        while (true) {
            {
                std::unique_lock<std::mutex> lock(mutex_);
                start_.wait(lock, [&] { return leaving_ || round_ != seen; });
                if (leaving_) return;
                seen = round_;
            }
            chunks(thread);
            std::lock_guard<std::mutex> lock(mutex_);
            if (--busy_ == 0) done_.notify_one();
        }
    }

    Poll poll_;
    Clock::time_point last_poll_;
    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable start_, done_;
    const std::function<void(int64_t, int64_t, int)>* body_ = nullptr;
    int64_t n_ = 0, grain_ = 1;
    std::atomic<int64_t> next_{0};
    std::atomic<bool> stop_{false};
    int busy_ = 0;
    uint64_t round_ = 0;
    bool leaving_ = false;
};

}  // namespace sgc
