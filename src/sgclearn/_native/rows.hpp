// One pass over the rows of a graph or of sparse features, where numpy would take ten.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "team.hpp"

namespace sgc {

// Whether rows are canonical: the number of loops, or the first thing that is wrong.
enum Fault : int64_t { kOutOfRange = -1, kNotAscending = -2, kNotSymmetric = -3 };

// `loops` (n_rows,) takes the nodes that have an edge to themselves; `mirrored` asks for symmetry too.
template <class I>
int64_t check_rows(const I* indptr, const I* indices, const double* weights, int64_t n_rows, bool mirrored,
                   int64_t* loops) {
    int64_t n_loops = 0;
    // Rows are visited in order, so whoever names j does so in the order in which row j names them: `next` has the place
    // in row j where the next one must stand.
    std::vector<I> next(indptr, indptr + (mirrored ? n_rows : 0));
    const int64_t stored = int64_t(indptr[n_rows]);
    bool symmetric = true;
    for (int64_t i = 0; i < n_rows; ++i) {
        int64_t before = -1;
        for (int64_t k = int64_t(indptr[i]); k < int64_t(indptr[i + 1]); ++k) {
            const int64_t j = int64_t(indices[k]);
            if (j < 0 || j >= n_rows) return kOutOfRange;
            if (j <= before) return kNotAscending;
            if (j == i) loops[n_loops++] = i;
            before = j;
            if (!symmetric || !mirrored) continue;
            const int64_t at = int64_t(next[size_t(j)]++);
            symmetric = at < stored && int64_t(indices[at]) == i && (!weights || weights[at] == weights[k]);
        }
    }
    // A row that was named too often has led into the one behind it.
    for (int64_t j = 0; symmetric && mirrored && j < n_rows; ++j) symmetric = next[size_t(j)] == indptr[j + 1];
    return symmetric ? n_loops : int64_t(kNotSymmetric);
}

// `out[i]`: the sum of the counts over the columns of row i, for the rows that `nodes` names (null: all).
template <class I>
void sum_neighbours(const I* indptr, const I* indices, const double* counts, const int64_t* nodes, int64_t n_nodes,
                    double* out) {
    for (int64_t m = 0; m < n_nodes; ++m) {
        const int64_t i = nodes ? nodes[m] : m;
        double sum = 0;
        for (int64_t k = int64_t(indptr[i]); k < int64_t(indptr[i + 1]); ++k) sum += counts[indices[k]];
        out[i] = sum;
    }
}

// Sets `reached[j]` for every neighbour j of the nodes.
template <class I>
void mark_neighbours(const I* indptr, const I* indices, const int64_t* nodes, int64_t n_nodes, uint8_t* reached) {
    for (int64_t m = 0; m < n_nodes; ++m)
        for (int64_t k = int64_t(indptr[nodes[m]]); k < int64_t(indptr[nodes[m] + 1]); ++k) reached[indices[k]] = 1;
}

// The column of the largest value of every row, the first of several.
inline void largest_columns(const double* values, int64_t n_rows, int64_t n_columns, int64_t* out) {
    for (int64_t i = 0; i < n_rows; ++i) {
        const double* row = values + i * n_columns;
        double largest = row[0];
        int64_t at = 0;
        for (int64_t c = 1; c < n_columns; ++c) {  // without a branch
            const bool larger = row[c] > largest;
            largest = larger ? row[c] : largest;
            at = larger ? c : at;
        }
        out[i] = at;
    }
}

// Sums at a few of n places, read in order: bits say where there is one, and bits above them where to look.
class Sums {
  public:
    void reserve(int64_t n) {
        if (!values_.empty()) return;
        values_.assign(size_t(n), 0.0);
        bits_.assign(size_t(n / 64 + 1), 0);
        words_.assign(bits_.size() / 64 + 1, 0);
    }

    void add(int64_t at, double value) {
        uint64_t& bits = bits_[size_t(at >> 6)];
        // Not at every call: one place would have to wait for the last one's word to be written.
        if (!bits) words_[size_t(at >> 12)] |= uint64_t(1) << ((at >> 6) & 63);
        bits |= uint64_t(1) << (at & 63);
        values_[size_t(at)] += value;
    }

    // Visits every place with its sum, ascending, and leaves none.
    template <class Visit>
    void take(Visit&& visit) {
        for (size_t w = 0; w < words_.size(); ++w) {
            for (uint64_t words = words_[w]; words; words &= words - 1) {
                const size_t word = (w << 6) + size_t(__builtin_ctzll(words));
                for (uint64_t bits = bits_[word]; bits; bits &= bits - 1) {
                    const size_t at = (word << 6) + size_t(__builtin_ctzll(bits));
                    visit(int64_t(at), std::exchange(values_[at], 0.0));
                }
                bits_[word] = 0;
            }
            words_[w] = 0;
        }
    }

  private:
    std::vector<double> values_;
    std::vector<uint64_t> bits_, words_;
};

// Some rows of g(S) diag(scale) X, g a polynomial, S = diag(left) A diag(right) + diag(keep), X in CSR form.
// Every row is walked from its own node: a vector over nodes that a hop widens, then a sum of rows of X.
template <class T, class I>
struct RowWalk {
    const I *indptr, *indices;
    const double *weights, *left, *right, *keep;  // weights and keep may be null: ones, nothing
    const double* coefficients;                   // of g, n_hops + 1
    int n_hops;
    const I *x_indptr, *x_indices;
    const T *x_values, *scale;  // scale may be null
    int64_t n_nodes, n_columns;

    struct Row {
        std::vector<I> columns;
        std::vector<T> values;
    };
    struct Scratch {
        Sums here, there, total, columns;
        std::vector<std::pair<int64_t, double>> nodes;
        std::vector<double> dense;
        Row filled;
    };

    Row row(int64_t node, Scratch& s) const {
        s.here.reserve(n_nodes), s.there.reserve(n_nodes), s.total.reserve(n_nodes), s.columns.reserve(n_columns);
        s.here.add(node, 1.0);
        for (int k = 0; k <= n_hops; ++k) {
            s.here.take([&](int64_t i, double p) {
                if (coefficients[k] != 0) s.total.add(i, coefficients[k] * p);
                if (k == n_hops) return;
                const double share = p * left[i];
                for (int64_t e = int64_t(indptr[i]); e < int64_t(indptr[i + 1]); ++e) {
                    const int64_t j = int64_t(indices[e]);
                    s.there.add(j, (weights ? share * weights[e] : share) * right[j]);
                }
                if (keep) s.there.add(i, p * keep[i]);
            });
            std::swap(s.here, s.there);
        }
        int64_t entries = 0;
        s.nodes.clear();
        s.total.take([&](int64_t i, double p) {
            s.nodes.emplace_back(i, scale ? p * double(scale[i]) : p);
            entries += int64_t(x_indptr[i + 1]) - int64_t(x_indptr[i]);
        });
        return entries > n_columns / kCrowded ? crowded_row(s) : thin_row(s);
    }

    // add(column, value) for every entry of the rows of X that the nodes name, times the number of the node.
    template <class Add>
    void each_term(const std::vector<std::pair<int64_t, double>>& nodes, Add&& add) const {
        for (size_t n = 0; n < nodes.size(); ++n) {
            if (n + kAhead < nodes.size()) {  // rows of X lie anywhere: ask for them in time
                const int64_t begin = int64_t(x_indptr[nodes[n + kAhead].first]);
                const int64_t end = std::min(int64_t(x_indptr[nodes[n + kAhead].first + 1]), begin + kMostAhead);
                for (int64_t h = begin; h < end; h += 64 / int64_t(sizeof(I))) __builtin_prefetch(x_indices + h);
                for (int64_t h = begin; h < end; h += 64 / int64_t(sizeof(T))) __builtin_prefetch(x_values + h);
            }
            const auto [i, p] = nodes[n];
            for (int64_t h = int64_t(x_indptr[i]); h < int64_t(x_indptr[i + 1]); ++h) {
                const auto column = int64_t(x_indices[h]);
                if (uint64_t(column) >= uint64_t(n_columns)) throw std::invalid_argument(kOutside);
                add(column, p * double(x_values[h]));
            }
        }
    }

    // A sum of rows of X, in a set of columns.
    Row thin_row(Scratch& s) const {
        Row found;
        each_term(s.nodes, [&](int64_t column, double value) { s.columns.add(column, value); });
        s.columns.take([&](int64_t column, double value) {
            found.columns.push_back(I(column));
            found.values.push_back(T(value));
        });
        return found;
    }

    // The same where a good part of all columns is hit: they are cheaper to look through than to keep a set of.
    Row crowded_row(Scratch& s) const {
        if (s.dense.empty()) {
            s.dense.assign(size_t(n_columns), 0.0);
            s.filled.columns.resize(size_t(n_columns)), s.filled.values.resize(size_t(n_columns));
        }
        double* sum = s.dense.data();
        each_term(s.nodes, [&](int64_t column, double value) { sum[column] += value; });
        I* columns = s.filled.columns.data();
        T* values = s.filled.values.data();
        int64_t at = 0;
        for (int64_t column = 0; column < n_columns; ++column) {
            columns[at] = I(column), values[at] = T(sum[column]);  // no branch: the next one may take its place
            at += sum[column] != 0.0;
            sum[column] = 0.0;
        }
        return {{columns, columns + at}, {values, values + at}};
    }

    // `report(done, of)` counts rows.
    template <class Report>
    std::vector<Row> rows(Team& team, const int64_t* nodes, int64_t n_rows, Report&& report) const {
        std::vector<Row> found(static_cast<size_t>(n_rows));
        std::vector<Scratch> scratch(static_cast<size_t>(team.size()));
        for (int64_t done = 0; done < n_rows && !team.stopped(); done += kReport) {
            const int64_t now = std::min(kReport, n_rows - done);
            team.share(now, 1, [&](int64_t first, int64_t last, int thread) {
                for (int64_t m = done + first; m < done + last; ++m)
                    found[size_t(m)] = row(nodes[m], scratch[size_t(thread)]);
            });
            if (!team.stopped()) report(done + now, n_rows);
        }
        return found;
    }

    static constexpr const char* kOutside = "the kernel was given a column index out of range";
    static constexpr int64_t kReport = 1024, kCrowded = 4;
    static constexpr int64_t kMostAhead = 128;  // entries of a row
    static constexpr size_t kAhead = 2;         // nodes
};

}  // namespace sgc
