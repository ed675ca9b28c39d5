// A sparse matrix of the graph times a sparse matrix of features, row by row (Gustavson).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "team.hpp"

namespace sgc {

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
        std::vector<std::vector<I>> seen(static_cast<size_t>(team.size()));
        team.share(n_rows, kRows, [&](int64_t first, int64_t last, int thread) {
            auto& mark = seen[size_t(thread)];
            if (mark.empty()) mark.assign(size_t(n_columns), -1);
            for (int64_t i = first; i < last; ++i) {
                int64_t found = 0;
                inputs(i, [&](int64_t j, T) {
                    for (int64_t h = int64_t(h_indptr[j]); h < int64_t(h_indptr[j + 1]); ++h) {
                        I& at = mark[size_t(h_indices[h])];
                        found += at != I(i);
                        at = I(i);
                    }
                });
                counts[i] = found;
            }
        });
    }

    // Second pass: the entries, columns ascending in every row. `out_indptr` holds the counts added up.
    void fill(Team& team, const int64_t* out_indptr, I* out_indices, T* out_values) const {
        struct Scratch {
            std::vector<T> sum;
            std::vector<I> row_of;
        };
        std::vector<Scratch> scratch(static_cast<size_t>(team.size()));
        team.share(n_rows, kRows, [&](int64_t first, int64_t last, int thread) {
            auto& [sum, row_of] = scratch[size_t(thread)];
            if (row_of.empty()) row_of.assign(size_t(n_columns), -1), sum.resize(size_t(n_columns));
            for (int64_t i = first; i < last; ++i) {
                I* columns = out_indices + out_indptr[i];
                int64_t found = 0;
                inputs(i, [&](int64_t j, T factor) {
                    for (int64_t h = int64_t(h_indptr[j]); h < int64_t(h_indptr[j + 1]); ++h) {
                        const size_t column = size_t(h_indices[h]);
                        if (row_of[column] != I(i)) {
                            row_of[column] = I(i);
                            sum[column] = factor * h_values[h];
                            columns[found++] = I(column);
                        } else {
                            sum[column] += factor * h_values[h];
                        }
                    }
                });
                // Sorting a crowded row costs more than looking through all columns once.
                if (found * 16 > n_columns) {
                    int64_t at = 0;
                    for (int64_t c = 0; at < found; ++c)
                        if (row_of[size_t(c)] == I(i)) columns[at++] = I(c);
                } else {
                    std::sort(columns, columns + found);
                }
                T* values = out_values + out_indptr[i];
                for (int64_t e = 0; e < found; ++e) values[e] = sum[size_t(columns[e])];
            }
        });
    }

    static constexpr int64_t kRows = 64;
};

}  // namespace sgc
