// The Python side of rows.hpp and small.hpp; shapes and indices are looked at as in module.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <utility>

#include "binding.hpp"
#include "block.hpp"
#include "checks.hpp"
#include "rows.hpp"
#include "small.hpp"

namespace {

constexpr int64_t kManyRows = 1024;

// Rows of a length that is known once they are there: counted first, then written and given up.
template <class T, class I>
struct WalkedRows {
    std::vector<typename sgc::RowWalk<T, I>::Row> rows;

    void count(Output1<int64_t> lengths) const {
        sgc::require(lengths.shape(0) == rows.size(), "another number of lengths than of rows");
        for (size_t i = 0; i < rows.size(); ++i) lengths.data()[i] = int64_t(rows[i].columns.size());
    }
    void write(Output1<I> columns, Output1<T> values) {
        int64_t at = 0, n_entries = 0;
        for (const auto& row : rows) n_entries += int64_t(row.columns.size());
        sgc::require(int64_t(columns.shape(0)) == n_entries && int64_t(values.shape(0)) == n_entries,
                     "a result of another size");
        for (auto& row : rows) {
            std::copy(row.columns.begin(), row.columns.end(), columns.data() + at);
            std::copy(row.values.begin(), row.values.end(), values.data() + at);
            at += int64_t(row.columns.size());
        }
        rows.clear();
    }
};

template <class T, class I>
WalkedRows<T, I> walked_rows(const Array1<I>& indptr, const Array1<I>& indices, const Maybe1<double>& weights,
                      const Array1<double>& left, const Array1<double>& right, const Maybe1<double>& keep,
                      const Array1<double>& coefficients, const Array1<I>& x_indptr, const Array1<I>& x_indices,
                      const Array1<T>& x_values, const Maybe1<T>& scale, int64_t n_columns, const Array1<int64_t>& nodes,
                      int n_threads, const Callback& progress) {
    const sgc::RowWalk<T, I> walk{indptr.data(), indices.data(), data_or_null(weights), left.data(), right.data(),
                                  data_or_null(keep), coefficients.data(), int(coefficients.shape(0)) - 1,
                                  x_indptr.data(), x_indices.data(), x_values.data(), data_or_null(scale),
                                  int64_t(left.shape(0)), n_columns};
    WalkedRows<T, I> found;
    const int64_t n_stored = int64_t(indices.shape(0)), x_stored = int64_t(x_indices.shape(0));
    without_gil(n_threads, [&](sgc::Team& team) {
        const auto has = [](const auto& array, int64_t n) { return !array || int64_t(array->shape(0)) == n; };
        sgc::require(int64_t(indptr.shape(0)) == walk.n_nodes + 1 && int64_t(right.shape(0)) == walk.n_nodes &&
                         int64_t(x_indptr.shape(0)) == walk.n_nodes + 1 && has(keep, walk.n_nodes) &&
                         has(scale, walk.n_nodes) && coefficients.shape(0) > 0,
                     "another number of scales than of nodes");
        sgc::require(has(weights, n_stored) && int64_t(x_values.shape(0)) == x_stored,
                     "another number of values than of columns");
        sgc::require_rows(team, indptr.data(), walk.n_nodes, indices.data(), n_stored, walk.n_nodes);
        sgc::require(sgc::is_indptr(x_indptr.data(), walk.n_nodes, x_stored),
                     "row starts that do not rise from 0 to the number of entries");
        sgc::require_range(team, nodes.data(), int64_t(nodes.shape(0)), 0, walk.n_nodes, "a node out of range");
        found.rows = walk.rows(team, nodes.data(), int64_t(nodes.shape(0)), reporter(team, progress));
    });
    return found;
}

template <class T, class I>
void thin_product(const Array1<I>& indptr, const Array1<I>& indices, const Array1<T>& values, const Array2<double>& V,
                  const Maybe1<double>& scale, Output2<double> out, int n_threads) {
    const int64_t n_columns = int64_t(V.shape(1)), width = n_columns <= 4 ? 4 : 8, n_inputs = int64_t(V.shape(0));
    const int64_t n_rows = int64_t(indptr.shape(0)) - 1, n_stored = int64_t(indices.shape(0));
    without_gil(n_threads, [&](sgc::Team& team) {
        sgc::require(int64_t(values.shape(0)) == n_stored && int64_t(out.shape(0)) == n_rows &&
                         int64_t(out.shape(1)) == n_columns && (!scale || int64_t(scale->shape(0)) == n_rows),
                     "a result of another shape");
        sgc::require(sgc::is_indptr(indptr.data(), n_rows, n_stored) && (n_inputs > 0 || n_stored == 0),
                     "row starts that do not rise from 0 to the number of entries");
        std::atomic<bool> in_range{true};  // columns are looked at as they are read
        sgc::Block<double> block_of_V(n_inputs, int(width));
        double* padded = block_of_V.data();
        for (int64_t block = 0; block < n_columns && in_range; block += width) {
            const int64_t count = std::min(width, n_columns - block);
            std::fill_n(padded, n_inputs * width, 0.0);
            for (int64_t j = 0; j < n_inputs; ++j)
                std::copy_n(V.data() + j * n_columns + block, count, padded + j * width);
            const sgc::ThinProduct<T, I> product{indptr.data(), indices.data(), values.data(), padded,
                                                 data_or_null(scale), n_rows, n_columns, n_inputs, width, block};
            const auto kernel = sgc::row_kernels<T, I>().thin;
            team.share(product.n_rows, kManyRows, [&](int64_t first, int64_t last, int) {
                if (!kernel(product, out.data(), first, last)) in_range.store(false, std::memory_order_relaxed);
            });
        }
        sgc::require(in_range, "a column index out of range");
    });
}

template <class T, class I>
void bind_rows(nb::module_& m, const std::string& suffix) {
    nb::class_<WalkedRows<T, I>>(m, ("WalkedRows_" + suffix).c_str())
        .def("count", &WalkedRows<T, I>::count)
        .def("write", &WalkedRows<T, I>::write);
    m.def(("walked_rows_" + suffix).c_str(), &walked_rows<T, I>);
    m.def(("thin_product_" + suffix).c_str(), &thin_product<T, I>);
    using Norms = std::optional<Output1<double>>;
    m.def(("scan_rows_" + suffix).c_str(), [](Array1<I> indptr, Array1<T> values, bool squares, Norms norms) {
        const auto scan = sgc::row_kernels<T, I>().scan;
        const int64_t n_rows = int64_t(indptr.shape(0)) - 1;
        sgc::require(sgc::is_indptr(indptr.data(), n_rows, int64_t(values.shape(0))) &&
                         (!norms || int64_t(norms->shape(0)) == n_rows),
                     "row starts that do not rise from 0 to the number of entries");
        nb::gil_scoped_release released;
        return scan(indptr.data(), values.data(), int64_t(indptr.shape(0)) - 1, squares, norms ? norms->data() : nullptr);
    });
    m.def(("gram_" + suffix).c_str(),
          [](Array1<I> indptr, Array1<I> indices, Array1<T> values, int64_t n_columns, Output2<double> out) {
              const auto gram = sgc::row_kernels<T, I>().gram;
              const int64_t n_rows = int64_t(indptr.shape(0)) - 1, n_stored = int64_t(indices.shape(0));
              sgc::require(int64_t(values.shape(0)) == n_stored && int64_t(out.shape(0)) == n_rows &&
                               int64_t(out.shape(1)) == n_rows &&
                               sgc::structure(indptr.data(), n_rows, indices.data(), n_stored, n_columns) == sgc::kCanonical,
                           "rows without ascending columns in range");
              nb::gil_scoped_release released;
              gram(indptr.data(), indices.data(), values.data(), int64_t(indptr.shape(0)) - 1, n_columns, out.data());
          });
}

// Rows whose columns, and nodes whose rows, are there.
template <class I>
void require_pattern(const Array1<I>& indptr, const Array1<I>& indices, const Maybe1<int64_t>& nodes, int64_t n_columns,
                     int64_t n_rows) {
    sgc::Team alone(1, {});
    sgc::require(int64_t(indptr.shape(0)) == n_rows + 1, "another number of rows than of nodes");
    sgc::require_rows(alone, indptr.data(), n_rows, indices.data(), int64_t(indices.shape(0)), n_columns);
    if (nodes) sgc::require_range(alone, nodes->data(), int64_t(nodes->shape(0)), 0, n_rows, "a node out of range");
}

template <class I>
void bind_pattern(nb::module_& m, const std::string& suffix) {
    m.def(("structure_" + suffix).c_str(), [](Array1<I> indptr, Array1<I> indices, int64_t n_columns) {
        nb::gil_scoped_release released;
        return sgc::structure(indptr.data(), int64_t(indptr.shape(0)) - 1, indices.data(), int64_t(indices.shape(0)),
                              n_columns);
    });
    m.def(("check_rows_" + suffix).c_str(),
          [](Array1<I> indptr, Array1<I> indices, Maybe1<double> weights, bool mirrored, Output1<int64_t> loops) {
              const int64_t n_rows = int64_t(indptr.shape(0)) - 1;
              sgc::require(sgc::is_indptr(indptr.data(), n_rows, int64_t(indices.shape(0))) &&
                               int64_t(loops.shape(0)) >= n_rows && (!weights || weights->shape(0) == indices.shape(0)),
                           "row starts that do not rise from 0 to the number of entries");
              nb::gil_scoped_release released;
              return sgc::check_rows(indptr.data(), indices.data(), data_or_null(weights), int64_t(indptr.shape(0)) - 1,
                                     mirrored, loops.data());
          });
    m.def(("sum_neighbours_" + suffix).c_str(),
          [](Array1<I> indptr, Array1<I> indices, Array1<double> counts, Maybe1<int64_t> nodes, Output1<double> out) {
              const auto n_nodes = int64_t(nodes ? nodes->shape(0) : out.shape(0));
              nb::gil_scoped_release released;
              require_pattern(indptr, indices, nodes, int64_t(counts.shape(0)), int64_t(out.shape(0)));
              sgc::sum_neighbours(indptr.data(), indices.data(), counts.data(), data_or_null(nodes), n_nodes, out.data());
          });
    m.def(("mark_neighbours_" + suffix).c_str(),
          [](Array1<I> indptr, Array1<I> indices, Array1<int64_t> nodes, Output1<uint8_t> reached) {
              nb::gil_scoped_release released;
              require_pattern(indptr, indices, {nodes}, int64_t(reached.shape(0)), int64_t(reached.shape(0)));
              sgc::mark_neighbours(indptr.data(), indices.data(), nodes.data(), int64_t(nodes.shape(0)), reached.data());
          });
}

void bind_small(nb::module_& m) {
    m.attr("MOST_CLASSES") = sgc::kLane * sgc::kMostLines;
    m.def("largest_columns", [](Array2<double> values, Output1<int64_t> out) {
        sgc::require(out.shape(0) == values.shape(0) && values.shape(1) > 0, "a result of another shape");
        nb::gil_scoped_release released;
        sgc::largest_columns(values.data(), int64_t(values.shape(0)), int64_t(values.shape(1)), out.data());
    });
    m.def("evaluate", [](Array2<double> Z, Array2<double> Y, Array1<double> weights, Array1<double> decay,
                         Array2<double> W, Output2<double> gradient, Output2<double> P) {
        sgc::require(Y.shape(0) == Z.shape(0) && weights.shape(0) == Z.shape(0) && decay.shape(0) == Z.shape(1) &&
                         W.shape(0) == Z.shape(1) && W.shape(1) == Y.shape(1) && gradient.shape(0) == W.shape(0) &&
                         gradient.shape(1) == W.shape(1) && P.shape(0) == Y.shape(0) && P.shape(1) == Y.shape(1) &&
                         Y.shape(1) <= sgc::kLane * sgc::kMostLines,
                     "a problem whose shapes do not fit together");
        const sgc::SmallProblem problem{Z.data(), Y.data(), weights.data(), decay.data(), int64_t(Z.shape(0)),
                                        int64_t(Z.shape(1)), int(Y.shape(1))};
        nb::gil_scoped_release released;
        return sgc::small_kernels().evaluate(problem, W.data(), gradient.data(), P.data());
    });
    m.def("newton_step",
          [](Array2<double> Z, Array2<double> P, Array1<double> weights, Array1<double> decay, Array1<double> squares,
             Array2<double> gradient, bool softmax, double enough, int most_steps, Output2<double> step) {
              sgc::require(P.shape(0) == Z.shape(0) && weights.shape(0) == Z.shape(0) && decay.shape(0) == Z.shape(1) &&
                               squares.shape(0) == Z.shape(1) && gradient.shape(0) == Z.shape(1) &&
                               gradient.shape(1) == P.shape(1) && step.shape(0) == gradient.shape(0) &&
                               step.shape(1) == gradient.shape(1) && P.shape(1) <= sgc::kLane * sgc::kMostLines,
                           "a problem whose shapes do not fit together");
              const sgc::SmallSystem system{Z.data(), P.data(), weights.data(), decay.data(), squares.data(),
                                            gradient.data(), int64_t(Z.shape(0)), int64_t(Z.shape(1)), int(P.shape(1)),
                                            most_steps, softmax, enough};
              nb::gil_scoped_release released;
              return sgc::small_kernels().newton_step(system, step.data());
          });
}

}  // namespace
