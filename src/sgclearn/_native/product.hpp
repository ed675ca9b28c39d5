// A sparse matrix of the graph times a sparse matrix of features, row by row (Gustavson).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "team.hpp"

namespace sgc {

// A set of columns as bits, so that it is read in order without sorting and emptied while read. Few columns among
// very many have a second level of bits above, which says where to look.
class Columns {
  public:
    void reserve(int64_t n, bool few = true) {
        if (!bits_.empty()) return;
        bits_.assign(size_t(n / 64 + 1), 0);
        if (few) words_.assign(bits_.size() / 64 + 1, 0);
    }

    template <bool few = true>
    void add(int64_t column) {
        bits_[size_t(column >> 6)] |= uint64_t(1) << (column & 63);
        if (few) words_[size_t(column >> 12)] |= uint64_t(1) << ((column >> 6) & 63);
    }

    // Visits the columns in ascending order and leaves none.
    template <bool few = true, class Visit>
    void take(Visit&& visit) {
        if (!few) {
            for (size_t at = 0; at < bits_.size(); ++at) take_word(at, visit);
            return;
        }
        for (size_t w = 0; w < words_.size(); ++w) {
            for (uint64_t words = words_[w]; words; words &= words - 1)
                take_word((w << 6) + size_t(__builtin_ctzll(words)), visit);
            words_[w] = 0;
        }
    }

  private:
    template <class Visit>
    void take_word(size_t at, Visit&& visit) {
        for (uint64_t bits = bits_[at]; bits; bits &= bits - 1) visit(int64_t(at << 6) + __builtin_ctzll(bits));
        bits_[at] = 0;
    }

    std::vector<uint64_t> bits_, words_;
};

// (diag(left) A diag(right) + diag(keep)) H, with A in CSR form and H (n_inputs, n_columns) in CSR form.
template <class T, class I>
struct SparseProduct {
    const I *indptr, *indices;
    const T* weights;              // null: every stored entry is one
    const I* own;                  // as in Hop
    const T *left, *right, *keep;  // each may be null: ones, ones, nothing
    const I *h_indptr, *h_indices;
    const T* h_values;
    int64_t n_rows, n_columns;

    template <class Visit>
    void inputs(int64_t i, Visit&& visit) const {
        for (int64_t k = int64_t(indptr[i]); k < int64_t(indptr[i + 1]); ++k) {
            if (k + kAhead < int64_t(indptr[n_rows])) {  // rows of H lie anywhere: ask for them in time
                const int64_t later = int64_t(h_indptr[indices[k + kAhead]]);
                __builtin_prefetch(h_indices + later);
                __builtin_prefetch(h_values + later);
            }
            const int64_t j = int64_t(indices[k]);
            T factor = weights ? weights[k] : T(1);
            if (right) factor *= right[j];
            if (left) factor *= left[i];
            visit(j, factor);
        }
        if (keep) {
            const int64_t j = own ? int64_t(own[i]) : i;
            if (j >= 0) visit(j, keep[i]);
        }
    }

    // First pass: entries in every row of the result, written to counts[i].
    void count(Team& team, int64_t* counts) const {
        std::vector<std::vector<I>> seen(static_cast<size_t>(team.size()));  // by which row a column was seen last
        team.share(n_rows, kRows, [&](int64_t first, int64_t last, int thread) {
            auto& mine = seen[size_t(thread)];
            if (mine.empty()) mine.assign(size_t(n_columns), I(-1));
            I* by = mine.data();
            for (int64_t i = first; i < last; ++i) {
                int64_t found = 0;
                inputs(i, [&](int64_t j, T) {
                    for (int64_t h = int64_t(h_indptr[j]); h < int64_t(h_indptr[j + 1]); ++h) {
                        found += by[h_indices[h]] != I(i);  // no branch: whether it is new cannot be foreseen
                        by[h_indices[h]] = I(i);
                    }
                });
                counts[i] = found;
            }
        });
    }

    // Second pass: the entries, columns ascending in every row. `out_indptr` holds the counts added up.
    void fill(Team& team, const int64_t* out_indptr, I* out_indices, T* out_values) const {
        const bool few = out_indptr[n_rows] / std::max<int64_t>(n_rows, 1) < n_columns / 1024;
        if (few)
            fill_rows<true>(team, out_indptr, out_indices, out_values);
        else
            fill_rows<false>(team, out_indptr, out_indices, out_values);
    }

    template <bool few>
    void fill_rows(Team& team, const int64_t* out_indptr, I* out_indices, T* out_values) const {
        std::vector<Columns> seen(static_cast<size_t>(team.size()));
        std::vector<std::vector<T>> sums(static_cast<size_t>(team.size()));
        team.share(n_rows, kRows, [&](int64_t first, int64_t last, int thread) {
            Columns& columns = seen[size_t(thread)];
            columns.reserve(n_columns, few);
            auto& mine = sums[size_t(thread)];  // zero wherever no row is at work
            if (mine.empty()) mine.assign(size_t(n_columns), T(0));
            T* sum = mine.data();
            for (int64_t i = first; i < last; ++i) {
                inputs(i, [&](int64_t j, T factor) {
                    for (int64_t h = int64_t(h_indptr[j]); h < int64_t(h_indptr[j + 1]); ++h) {
                        const int64_t column = int64_t(h_indices[h]);
                        columns.template add<few>(column);
                        sum[column] += factor * h_values[h];
                    }
                });
                I* to = out_indices + out_indptr[i];
                T* values = out_values + out_indptr[i];
                columns.template take<few>([&](int64_t column) {
                    *to++ = I(column);
                    *values++ = sum[column];
                    sum[column] = T(0);
                });
            }
        });
    }

    // Smallest and largest entry of every column over the rows of each part, zeros included: low and high
    // (n_parts, n_columns), which hold infinities or the extremes of other rows before. The product is not kept.
    template <class Report>
    void extremes(Team& team, const int64_t* parts, int64_t n_parts, T* low, T* high, Report&& report) const {
        struct Mine {
            std::vector<T> sum, low, high;
        };
        const auto size = static_cast<size_t>(n_parts * n_columns);
        std::vector<Mine> mine(static_cast<size_t>(team.size()));
        for (int64_t done = 0; done < n_rows && !team.stopped(); done += kReport) {
            const int64_t now = std::min(kReport, n_rows - done);
            team.share(now, kFew, [&](int64_t first, int64_t last, int thread) {
                Mine& own_part = mine[size_t(thread)];
                if (own_part.sum.empty()) {
                    own_part.sum.assign(size_t(n_columns), T(0));
                    own_part.low.assign(low, low + size);
                    own_part.high.assign(high, high + size);
                }
                T* sum = own_part.sum.data();
                for (int64_t i = done + first; i < done + last; ++i) {
                    inputs(i, [&](int64_t j, T factor) {
                        for (int64_t h = int64_t(h_indptr[j]); h < int64_t(h_indptr[j + 1]); ++h)
                            sum[h_indices[h]] += factor * h_values[h];
                    });
                    T* least = own_part.low.data() + parts[i] * n_columns;
                    T* most = own_part.high.data() + parts[i] * n_columns;
                    for (int64_t c = 0; c < n_columns; ++c) {
                        least[c] = std::min(least[c], sum[c]);
                        most[c] = std::max(most[c], sum[c]);
                        sum[c] = T(0);
                    }
                }
            });
            report(done + now, n_rows);
        }
        for (const Mine& each : mine) {
            for (size_t at = 0; at < each.low.size(); ++at) {
                low[at] = std::min(low[at], each.low[at]);
                high[at] = std::max(high[at], each.high[at]);
            }
        }
    }

    static constexpr int64_t kRows = 64;
    static constexpr int64_t kFew = 8, kReport = 1024;
    static constexpr int64_t kAhead = 4;
};

}  // namespace sgc
