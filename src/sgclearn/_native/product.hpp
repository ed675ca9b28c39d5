// A sparse matrix of the graph times a sparse matrix of features, row by row (Gustavson).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
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
    int64_t n_rows, n_inputs, n_columns;

    template <class Visit>
    void inputs(int64_t i, Visit&& visit) const {
        for (int64_t k = int64_t(indptr[i]); k < int64_t(indptr[i + 1]); ++k) {
            if (k + kAhead < int64_t(indptr[n_rows])) {  // rows of H lie anywhere: ask for them in time
                const int64_t later = int64_t(h_indptr[indices[k + kAhead]]);
                for (int64_t line = 0; line < 2; ++line) {
                    __builtin_prefetch(h_indices + later + line * 64 / int64_t(sizeof(I)));
                    __builtin_prefetch(h_values + later + line * 64 / int64_t(sizeof(T)));
                }
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

    // Whether the rows of H are so long that sets of their columns, a bit each, are joined sooner than columns are
    // looked at one by one.
    bool has_long_rows() const { return int64_t(h_indptr[n_inputs]) * kWordsAnEntry > n_inputs * words(); }
    int64_t words() const { return n_columns / 64 + 1; }

    // Rows that a thread takes at a time: so few that it soon sees when it has to stop.
    int64_t rows_at_once() const {
        const double terms = double(indptr[n_rows]) / double(std::max<int64_t>(n_rows, 1)) * double(h_indptr[n_inputs]) /
                             double(std::max<int64_t>(n_inputs, 1));
        return std::clamp(int64_t(kTerms / (terms + 1)), int64_t(1), kRows);
    }

    // First pass: entries in every row of the result, written to counts[i].
    void count(Team& team, int64_t* counts) const {
        if (has_long_rows()) {
            const auto sets = column_sets(team);
            std::vector<std::vector<uint64_t>> joined(static_cast<size_t>(team.size()));
            team.share(n_rows, rows_at_once(), [&](int64_t first, int64_t last, int thread) {
                for (int64_t i = first; i < last; ++i) {
                    counts[i] = 0;
                    for (const uint64_t word : join(i, sets, joined[size_t(thread)]))
                        counts[i] += __builtin_popcountll(word);
                }
            });
            return;
        }
        std::vector<std::vector<I>> seen(static_cast<size_t>(team.size()));  // by which row a column was seen last
        team.share(n_rows, rows_at_once(), [&](int64_t first, int64_t last, int thread) {
            auto& mine = seen[size_t(thread)];
            if (mine.empty()) mine.assign(size_t(n_columns), I(-1));
            I* by = mine.data();
            for (int64_t i = first; i < last; ++i) {
                int64_t found = 0;
                inputs(i, [=, &found](int64_t j, T) {
                    const int64_t length = int64_t(h_indptr[j + 1]) - int64_t(h_indptr[j]);
                    const I* columns = h_indices + h_indptr[j];
                    if (found == 0) {  // the first: all columns are new
                        for (int64_t h = 0; h < length; ++h) by[columns[h]] = I(i);
                        found = length;
                        return;
                    }
                    int64_t more = 0;
                    for (int64_t h = 0; h < length; ++h) {
                        more += by[columns[h]] != I(i);  // no branch: whether it is new cannot be foreseen
                        by[columns[h]] = I(i);
                    }
                    found += more;
                });
                counts[i] = found;
            }
        });
    }

    // Second pass: the entries, in every row in an order that depends on the patterns alone. `out_indptr` holds the
    // counts added up.
    void fill(Team& team, const int64_t* out_indptr, I* out_indices, T* out_values) const {
        if (has_long_rows())
            fill_long_rows(team, out_indptr, out_indices, out_values);
        else if (out_indptr[n_rows] <= std::numeric_limits<int32_t>::max())
            fill_rows<int32_t>(team, out_indptr, out_indices, out_values);
        else
            fill_rows<int64_t>(team, out_indptr, out_indices, out_values);
    }

    template <class Place>
    void fill_rows(Team& team, const int64_t* out_indptr, I* out_indices, T* out_values) const {
        // Where a thread has put a column last. Chunks come in ascending order: a place before the row is of an
        // earlier one, and the column is new.
        std::vector<std::vector<Place>> places(static_cast<size_t>(team.size()));
        team.share(n_rows, rows_at_once(), [&](int64_t first, int64_t last, int thread) {
            auto& mine = places[size_t(thread)];
            if (mine.empty()) mine.assign(size_t(n_columns), Place(-1));
            Place* place = mine.data();
            for (int64_t i = first; i < last; ++i) {
                const Place begin = Place(out_indptr[i]);
                Place filled = begin;
                inputs(i, [=, &filled](int64_t j, T factor) {
                    Place end = filled;  // in a register: what is written below could be `filled` itself
                    const int64_t length = int64_t(h_indptr[j + 1]) - int64_t(h_indptr[j]);
                    const I* columns = h_indices + h_indptr[j];
                    const T* values = h_values + h_indptr[j];
                    if (end == begin) {  // the first: all columns are new
                        for (int64_t h = 0; h < length; ++h) out_indices[begin + h] = columns[h];
                        for (int64_t h = 0; h < length; ++h) out_values[begin + h] = factor * values[h];
                        for (int64_t h = 0; h < length; ++h) place[columns[h]] = begin + Place(h);
                        filled += Place(length);
                        return;
                    }
                    for (int64_t h = 0; h < length; ++h) {
                        const I column = columns[h];
                        const Place at = place[column];
                        if (at >= begin) {
                            out_values[at] += factor * values[h];
                        } else {
                            place[column] = end;
                            out_indices[end] = column;
                            out_values[end++] = factor * values[h];
                        }
                    }
                    filled = end;
                });
            }
        });
    }

    void fill_long_rows(Team& team, const int64_t* out_indptr, I* out_indices, T* out_values) const {
        const auto sets = column_sets(team);
        std::vector<std::vector<uint64_t>> joined(static_cast<size_t>(team.size()));
        std::vector<std::vector<T>> sums(static_cast<size_t>(team.size()));
        team.share(n_rows, rows_at_once(), [&](int64_t first, int64_t last, int thread) {
            auto& mine = sums[size_t(thread)];  // zero wherever no row is at work
            if (mine.empty()) mine.assign(size_t(n_columns), T(0));
            T* sum = mine.data();
            for (int64_t i = first; i < last; ++i) {
                inputs(i, [=](int64_t j, T factor) {
                    for (int64_t h = int64_t(h_indptr[j]); h < int64_t(h_indptr[j + 1]); ++h)
                        sum[h_indices[h]] += factor * h_values[h];
                });
                I* to = out_indices + out_indptr[i];
                T* values = out_values + out_indptr[i];
                int64_t from = 0;
                for (uint64_t word : join(i, sets, joined[size_t(thread)])) {
                    for (; word; word &= word - 1) {
                        const int64_t column = from + __builtin_ctzll(word);
                        *to++ = I(column);
                        *values++ = sum[column];
                        sum[column] = T(0);
                    }
                    from += 64;
                }
            }
        });
    }

    // The columns of every row of H (n_inputs, words()).
    std::vector<uint64_t> column_sets(Team& team) const {
        std::vector<uint64_t> sets(static_cast<size_t>(n_inputs * words()), 0);
        team.share(n_inputs, kRows, [&](int64_t first, int64_t last, int) {
            for (int64_t j = first; j < last; ++j) {
                uint64_t* set = sets.data() + j * words();
                for (int64_t h = int64_t(h_indptr[j]); h < int64_t(h_indptr[j + 1]); ++h)
                    set[h_indices[h] >> 6] |= uint64_t(1) << (h_indices[h] & 63);
            }
        });
        return sets;
    }

    // The columns of row i of the result.
    const std::vector<uint64_t>& join(int64_t i, const std::vector<uint64_t>& sets, std::vector<uint64_t>& joined) const {
        joined.assign(size_t(words()), 0);
        uint64_t* to = joined.data();
        const uint64_t* from = sets.data();
        const int64_t n_words = words();
        inputs(i, [=](int64_t j, T) {
            const uint64_t* set = from + j * n_words;
            for (int64_t w = 0; w < n_words; ++w) to[w] |= set[w];
        });
        return joined;
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
            team.share(now, std::min(kFew, rows_at_once()), [&](int64_t first, int64_t last, int thread) {
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
            if (!team.stopped()) report(done + now, n_rows);
        }
        for (const Mine& each : mine) {
            for (size_t at = 0; at < each.low.size(); ++at) {
                low[at] = std::min(low[at], each.low[at]);
                high[at] = std::max(high[at], each.high[at]);
            }
        }
    }

    static constexpr int64_t kRows = 64;
    static constexpr double kTerms = 1 << 20;
    static constexpr int64_t kFew = 8, kReport = 1024;
    static constexpr int64_t kAhead = 8;
    static constexpr int64_t kWordsAnEntry = 4;
};

}  // namespace sgc
