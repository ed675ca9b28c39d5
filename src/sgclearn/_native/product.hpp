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

    // Whether so many terms meet in row i that all columns are looked through for those that were met, sooner than each
    // term is asked whether its column is new. Rows of H count as their mean, whose lengths need not be read then.
    bool is_crowded(int64_t i) const {
        const double mean = double(h_indptr[n_inputs]) / double(std::max<int64_t>(n_inputs, 1));
        return double(indptr[i + 1] - indptr[i] + 1) * mean * kColumnsATerm > double(n_columns);
    }

    // Rows that a thread takes at a time: so few that it soon sees when it has to stop.
    int64_t rows_at_once() const {
        const double terms = double(indptr[n_rows]) / double(std::max<int64_t>(n_rows, 1)) * double(h_indptr[n_inputs]) /
                             double(std::max<int64_t>(n_inputs, 1));
        return std::clamp(int64_t(kTerms / (terms + 1)), int64_t(1), kRows);
    }

    // First pass: entries in every row of the result, written to counts[i].
    void count(Team& team, int64_t* counts) const {
        struct Mine {
            std::vector<I> seen;  // by which row a column was seen last
            Marks marks;
        };
        std::vector<Mine> all(static_cast<size_t>(team.size()));
        team.share(n_rows, rows_at_once(), [&](int64_t first, int64_t last, int thread) {
            Mine& mine = all[size_t(thread)];
            if (mine.seen.empty()) mine.seen.assign(size_t(n_columns), I(-1));
            for (int64_t i = first; i < last; ++i)
                counts[i] = is_crowded(i) ? count_marks(i, mine.marks) : count_new(i, mine.seen.data());
        });
    }

    // Second pass: the entries, in every row in an order that depends on the patterns alone. `out_indptr` holds the
    // counts added up.
    void fill(Team& team, const int64_t* out_indptr, I* out_indices, T* out_values) const {
        if (out_indptr[n_rows] <= std::numeric_limits<int32_t>::max())
            fill_rows<int32_t>(team, out_indptr, out_indices, out_values);
        else
            fill_rows<int64_t>(team, out_indptr, out_indices, out_values);
    }

    template <class Place>
    void fill_rows(Team& team, const int64_t* out_indptr, I* out_indices, T* out_values) const {
        struct Mine {
            std::vector<Place> places;  // where a column was put last
            std::vector<T> sums;        // zero wherever no row is at work
            Marks marks;
        };
        std::vector<Mine> all(static_cast<size_t>(team.size()));
        team.share(n_rows, rows_at_once(), [&](int64_t first, int64_t last, int thread) {
            Mine& mine = all[size_t(thread)];
            if (mine.places.empty()) {
                mine.places.assign(size_t(n_columns), Place(-1));
                mine.sums.assign(size_t(n_columns), T(0));
            }
            for (int64_t i = first; i < last; ++i) {
                if (is_crowded(i))
                    fill_marked(i, mine.marks, mine.sums.data(), out_indices + out_indptr[i], out_values + out_indptr[i]);
                else
                    fill_new(i, mine.places.data(), Place(out_indptr[i]), out_indices, out_values);
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

  private:
    // A byte for every column, one where a term has met it and zero wherever no row is at work.
    class Marks {
      public:
        uint8_t* bytes(int64_t n_columns) {
            if (words_.empty()) words_.assign(size_t(n_columns / 8 + 1), 0);
            return reinterpret_cast<uint8_t*>(words_.data());
        }

        // visit(first column, marks of eight) where there are any, the first mark in the lowest byte; they are taken away.
        template <class Visit>
        void take(Visit&& visit) {
            int64_t column = 0;
            for (uint64_t& word : words_) {
                if (word) visit(column, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(word) : word), word = 0;
                column += 8;
            }
        }

      private:
        std::vector<uint64_t> words_;
    };

    int64_t count_new(int64_t i, I* seen) const {
        int64_t found = 0;
        inputs(i, [=, &found](int64_t j, T) {
            const int64_t length = int64_t(h_indptr[j + 1]) - int64_t(h_indptr[j]);
            const I* columns = h_indices + h_indptr[j];
            if (found == 0) {  // the first: all columns are new
                for (int64_t h = 0; h < length; ++h) seen[columns[h]] = I(i);
                found = length;
                return;
            }
            int64_t more = 0;
            for (int64_t h = 0; h < length; ++h) {
                more += seen[columns[h]] != I(i);  // no branch: whether it is new cannot be foreseen
                seen[columns[h]] = I(i);
            }
            found += more;
        });
        return found;
    }

    int64_t count_marks(int64_t i, Marks& marks) const {
        uint8_t* mark = marks.bytes(n_columns);
        inputs(i, [=](int64_t j, T) {
            const I *column = h_indices + h_indptr[j], *end = h_indices + h_indptr[j + 1];
            for (; column < end; ++column) mark[*column] = 1;
        });
        int64_t found = 0;
        marks.take([&](int64_t, uint64_t word) { found += int64_t((word * 0x0101010101010101) >> 56); });
        return found;
    }

    template <class Place>
    void fill_new(int64_t i, Place* place, Place begin, I* out_indices, T* out_values) const {
        // Chunks come in ascending order: a place before the row is of an earlier one, and the column is new.
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

    void fill_marked(int64_t i, Marks& marks, T* sums, I* to, T* values) const {
        uint8_t* mark = marks.bytes(n_columns);
        inputs(i, [=](int64_t j, T factor) {
            const I *column = h_indices + h_indptr[j], *end = h_indices + h_indptr[j + 1];
            for (const T* value = h_values + h_indptr[j]; column < end; ++column, ++value) {
                sums[*column] += factor * *value;
                mark[*column] = 1;
            }
        });
        marks.take([&](int64_t first, uint64_t word) {
            for (; word; word &= word - 1) {
                const int64_t column = first + __builtin_ctzll(word) / 8;
                *to++ = I(column);
                *values++ = sums[column];
                sums[column] = T(0);
            }
        });
    }

    static constexpr int64_t kRows = 64;
    static constexpr double kTerms = 1 << 20;
    static constexpr int64_t kFew = 8, kReport = 1024;
    static constexpr int64_t kAhead = 8;
    static constexpr int64_t kColumnsATerm = 8;
};

}  // namespace sgc
