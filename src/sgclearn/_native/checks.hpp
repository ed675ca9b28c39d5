// The second line behind the checks of the Python side: whatever the kernels use as an address is looked at before they
// run. A fault is a std::invalid_argument, which Python sees as a ValueError; nothing has been read or written then.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "hop.hpp"
#include "team.hpp"

namespace sgc {

inline void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(std::string("the kernel was given ") + what);
}

// Every value in [low, high), looked at by the whole team.
template <class I>
void require_range(Team& team, const I* values, int64_t n, int64_t low, int64_t high, const char* what) {
    constexpr int64_t kGrain = int64_t(1) << 18;
    if (!values || n == 0) return;
    const auto in_range = range_kernel<I>();
    std::atomic<bool> holds{high > low};
    // No index of this type can be larger.
    const auto most = I(std::min<int64_t>(high, int64_t(std::numeric_limits<I>::max())));
    team.share(n, kGrain, [&](int64_t first, int64_t last, int) {
        if (!in_range(values + first, last - first, I(low), most)) holds.store(false, std::memory_order_relaxed);
    });
    require(holds, what);
}

// Rows that start at 0, never go back and end where the entries do.
template <class I>
bool is_indptr(const I* indptr, int64_t n_rows, int64_t n_stored) {
    if (n_rows < 0 || indptr[0] != 0 || int64_t(indptr[n_rows]) != n_stored) return false;
    bool rises = true;
    for (int64_t i = 0; i < n_rows; ++i) rises &= indptr[i] <= indptr[i + 1];
    return rises;
}

template <class I>
void require_rows(Team& team, const I* indptr, int64_t n_rows, const I* indices, int64_t n_stored, int64_t n_columns) {
    require(is_indptr(indptr, n_rows, n_stored), "row starts that do not rise from 0 to the number of entries");
    require_range(team, indices, n_stored, 0, n_columns, "a column index out of range");
}

// 1: rows in canonical form (ascending columns, each once); 0: any other valid rows; below: what is wrong.
enum Structure : int { kBadRowStarts = -1, kBadColumns = -2, kValid = 0, kCanonical = 1 };

template <class I>
int structure(const I* indptr, int64_t n_rows, const I* indices, int64_t n_stored, int64_t n_columns) {
    if (!is_indptr(indptr, n_rows, n_stored)) return kBadRowStarts;
    const auto most = I(std::min<int64_t>(n_columns, int64_t(std::numeric_limits<I>::max())));
    const int64_t falls = n_columns > 0 ? descent_kernel<I>()(indices, n_stored, most) : n_stored ? -1 : 0;
    if (falls < 0) return kBadColumns;
    // Columns may fall back only where a row starts: both sides are counted without a loop over short rows.
    int64_t at_starts = 0;
    for (int64_t i = 0; i < n_rows; ++i) {
        const int64_t k = int64_t(indptr[i]);
        at_starts += k > 0 && k < int64_t(indptr[i + 1]) && indices[k] <= indices[k - 1];
    }
    return falls == at_starts ? kCanonical : kValid;
}

}  // namespace sgc
