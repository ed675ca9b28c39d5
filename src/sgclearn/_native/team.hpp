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
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace sgc {

class Team {
  public:
    using Poll = std::function<bool()>;  // asked now and then by the calling thread: true means stop

    Team(int n_threads, Poll poll) : poll_(std::move(poll)), last_poll_(Clock::now()) {
        try {
            workers_.reserve(static_cast<size_t>(std::max(n_threads - 1, 0)));
            for (int t = 1; t < n_threads; ++t) workers_.emplace_back([this, t] { work(t); });
        } catch (const std::exception&) {
            // The system gives no more threads, or no memory for them: those there are do the work.
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

    // body(first, last, thread) over chunks of 0..n, taken by whoever is free; returns when all are done. What the
    // body throws, in whichever thread, is thrown here once all have come to rest; the team has stopped then.
    void share(int64_t n, int64_t grain, const std::function<void(int64_t, int64_t, int)>& body) {
        body_ = &body;
        n_ = n;
        grain_ = std::max<int64_t>(grain, 1);
        next_.store(0, std::memory_order_relaxed);
        if (workers_.empty() || n <= grain_) {
            chunks(0);
        } else {
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
        if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
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

    // Never throws: an exception would end the program in a worker, and in the calling thread take away a body that
    // the workers are still busy with. The first one is kept for `share`.
    void chunks(int thread) noexcept {
        try {
            while (!stopped()) {
                const int64_t first = next_.fetch_add(grain_, std::memory_order_relaxed);
                if (first >= n_) return;
                (*body_)(first, std::min(first + grain_, n_), thread);
                if (thread == 0) check();
            }
        } catch (...) {
            stop();
            std::lock_guard<std::mutex> lock(mutex_);
            if (!error_) error_ = std::current_exception();
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
    std::exception_ptr error_;  // the first that the body threw; read when nobody is at work
    int busy_ = 0;
    uint64_t round_ = 0;
    bool leaving_ = false;
};

}  // namespace sgc
