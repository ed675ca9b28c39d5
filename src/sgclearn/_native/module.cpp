// The Python side of the kernels: arrays in, arrays out. The callers in propagation/engines have checked what people gave
// them; here types, shapes and everything that serves as an address are looked at once more.
#include <stdexcept>
#include <string>

#include "binding.hpp"
#include "checks.hpp"
#include "product.hpp"
#include "propagate.hpp"
#include "small_module.hpp"

namespace {

// indptr, indices, weights, own, mix, keep
template <class T, class I>
using HopArrays = std::tuple<Array1<I>, Array1<I>, Maybe1<T>, Maybe1<I>, Array1<T>, Maybe1<T>>;

template <class T, class I>
sgc::Walk<T, I> walk_of(const std::vector<HopArrays<T, I>>& hops, const std::vector<Maybe1<int64_t>>& places,
                        const Array1<T>& pack_scale, const Array1<T>& unpack_scale, int64_t n_columns) {
    if (places.size() != hops.size() + 1) throw std::invalid_argument("one list of places for every power");
    sgc::Walk<T, I> walk{};
    for (const auto& [indptr, indices, weights, own, mix, keep] : hops)
        walk.hops.push_back({indptr.data(), indices.data(), data_or_null(weights), data_or_null(own), mix.data(),
                             data_or_null(keep), int64_t(indptr.shape(0)) - 1});
    for (const auto& place : places) walk.places.push_back(data_or_null(place));
    walk.pack_scale = pack_scale.data();
    walk.unpack_scale = unpack_scale.data();
    walk.n_inputs = int64_t(pack_scale.shape(0));
    walk.n_rows = int64_t(unpack_scale.shape(0));
    walk.n_columns = n_columns;
    return walk;
}

// Every hop leads from the nodes that the one before it has reached; the rows stand among those of every power.
template <class T, class I>
void check_walk(sgc::Team& team, const std::vector<HopArrays<T, I>>& hops, const std::vector<Maybe1<int64_t>>& places,
                const sgc::Walk<T, I>& walk, const Array1<double>& coefficients, int64_t out_rows, int64_t out_columns,
                int lines) {
    sgc::require(coefficients.shape(0) == hops.size() + 1, "another number of coefficients than of powers");
    sgc::require(out_rows == walk.n_rows && out_columns == walk.n_columns, "a result of another shape");
    sgc::require(lines == 1 || lines == 2 || lines == 4, "a block that is not 1, 2 or 4 lines wide");
    int64_t reached = walk.n_inputs;
    const void* last_pattern = nullptr;  // hops between the same nodes share one, which is looked at once
    int64_t last_reached = -1;
    for (size_t k = 0; k <= hops.size(); ++k) {
        if (places[k]) {
            sgc::require(int64_t(places[k]->shape(0)) == walk.n_rows, "another number of places than of rows");
            sgc::require_range(team, places[k]->data(), walk.n_rows, 0, reached, "a place out of range");
        } else {  // a power that the polynomial leaves out is never written
            sgc::require(coefficients.data()[k] == 0 || walk.n_rows <= reached, "more rows than nodes");
        }
        if (k == hops.size()) break;
        const auto& [indptr, indices, weights, own, mix, keep] = hops[k];
        const int64_t n_rows = int64_t(indptr.shape(0)) - 1, n_stored = int64_t(indices.shape(0));
        sgc::require(n_rows >= 0 && int64_t(mix.shape(0)) == n_rows, "another number of scales than of rows");
        sgc::require(!weights || int64_t(weights->shape(0)) == n_stored, "another number of weights than of entries");
        sgc::require(!keep || int64_t(keep->shape(0)) == n_rows, "another number of self-loops than of rows");
        sgc::require(own || !keep || n_rows <= reached, "self-loops of nodes that are not there");
        if (indices.data() != last_pattern || reached != last_reached) {
            sgc::require_rows(team, indptr.data(), n_rows, indices.data(), n_stored, reached);
            if (own) {
                sgc::require(int64_t(own->shape(0)) == n_rows, "another number of own places than of rows");
                sgc::require_range(team, own->data(), n_rows, -1, reached, "an own place out of range");
            }
            last_pattern = indices.data(), last_reached = reached;
        }
        reached = n_rows;
    }
}

template <class T>
using OutputArray = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void check_source(sgc::Team& team, const Maybe1<int64_t>& rows, int64_t n_rows, int64_t n_inputs) {
    sgc::require((rows ? int64_t(rows->shape(0)) : n_rows) == n_inputs, "another number of features than of nodes");
    if (rows) sgc::require_range(team, rows->data(), n_inputs, 0, n_rows, "a row of features out of range");
}

template <class T, class I>
void propagate_dense(const std::vector<HopArrays<T, I>>& hops, const std::vector<Maybe1<int64_t>>& places,
                     const Array1<T>& pack_scale, const Array1<T>& unpack_scale,
                     nb::ndarray<const T, nb::ndim<2>, nb::device::cpu> X, const Maybe1<int64_t>& rows,
                     OutputArray<T> out, const Array1<double>& coefficients, int lines, int n_threads,
                     const Callback& progress) {
    const auto walk = walk_of<T, I>(hops, places, pack_scale, unpack_scale, int64_t(X.shape(1)));
    const sgc::Output<T> output{out.data(), int64_t(out.shape(1)), coefficients.data()};
    sgc::DenseSource<T> source{X.data(), X.stride(0), X.stride(1), data_or_null(rows)};
    without_gil(n_threads, [&](sgc::Team& team) {
        check_walk<T, I>(team, hops, places, walk, coefficients, int64_t(out.shape(0)), int64_t(out.shape(1)), lines);
        check_source(team, rows, int64_t(X.shape(0)), walk.n_inputs);
        sgc::propagate(walk, source, output, lines, team, reporter(team, progress));
    });
}

template <class T, class I>
void propagate_sparse(const std::vector<HopArrays<T, I>>& hops, const std::vector<Maybe1<int64_t>>& places,
                      const Array1<T>& pack_scale, const Array1<T>& unpack_scale, const Array1<I>& indptr,
                      const Array1<I>& indices, const Array1<T>& values, int64_t n_columns,
                      const Maybe1<int64_t>& rows, OutputArray<T> out, const Array1<double>& coefficients, int lines,
                      int n_threads, const Callback& progress) {
    const auto walk = walk_of<T, I>(hops, places, pack_scale, unpack_scale, n_columns);
    const sgc::Output<T> output{out.data(), int64_t(out.shape(1)), coefficients.data()};
    const int64_t n_rows = int64_t(indptr.shape(0)) - 1, n_stored = int64_t(indices.shape(0));
    without_gil(n_threads, [&](sgc::Team& team) {
        check_walk<T, I>(team, hops, places, walk, coefficients, int64_t(out.shape(0)), int64_t(out.shape(1)), lines);
        check_source(team, rows, n_rows, walk.n_inputs);
        sgc::require(int64_t(values.shape(0)) == n_stored, "another number of values than of columns");
        sgc::require_rows(team, indptr.data(), n_rows, indices.data(), n_stored, n_columns);
        sgc::SparseSource<T, I> source(indptr.data(), indices.data(), values.data(), data_or_null(rows), walk.n_inputs);
        sgc::propagate(walk, source, output, lines, team, reporter(team, progress));
    });
}

template <class T, class I>
sgc::SparseProduct<T, I> product_of(sgc::Team& team, const Array1<I>& indptr, const Array1<I>& indices,
                                    const Maybe1<T>& weights, const Maybe1<I>& own, const Maybe1<T>& left,
                                    const Maybe1<T>& right, const Maybe1<T>& keep, const Array1<I>& h_indptr,
                                    const Array1<I>& h_indices, const Array1<T>& h_values, int64_t n_columns) {
    const int64_t n_rows = int64_t(indptr.shape(0)) - 1, n_stored = int64_t(indices.shape(0));
    const int64_t n_inputs = int64_t(h_indptr.shape(0)) - 1, h_stored = int64_t(h_indices.shape(0));
    const auto has = [](const auto& array, int64_t n) { return !array || int64_t(array->shape(0)) == n; };
    sgc::require(has(weights, n_stored) && int64_t(h_values.shape(0)) == h_stored, "another number of values than of columns");
    sgc::require(has(own, n_rows) && has(left, n_rows) && has(right, n_inputs) && has(keep, n_rows),
                 "another number of scales than of rows");
    sgc::require(own || !keep || n_rows <= n_inputs, "self-loops of nodes that are not there");
    sgc::require_rows(team, indptr.data(), n_rows, indices.data(), n_stored, n_inputs);
    sgc::require_rows(team, h_indptr.data(), n_inputs, h_indices.data(), h_stored, n_columns);
    if (own) sgc::require_range(team, own->data(), n_rows, -1, n_inputs, "an own place out of range");
    return {indptr.data(),        indices.data(),      data_or_null(weights), data_or_null(own),
            data_or_null(left),   data_or_null(right), data_or_null(keep),    h_indptr.data(),
            h_indices.data(),     h_values.data(),     int64_t(indptr.shape(0)) - 1,
            int64_t(h_indptr.shape(0)) - 1, n_columns};
}

template <class T, class I>
void bind(nb::module_& m, const std::string& suffix) {
    m.def(("propagate_dense_" + suffix).c_str(), &propagate_dense<T, I>, nb::arg().noconvert(), nb::arg().noconvert(),
          nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert().none(),
          nb::arg().noconvert(), nb::arg().noconvert(), nb::arg(), nb::arg(), nb::arg().none());
    m.def(("propagate_sparse_" + suffix).c_str(), &propagate_sparse<T, I>, nb::arg().noconvert(),
          nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert(),
          nb::arg().noconvert(), nb::arg().noconvert(), nb::arg(), nb::arg().noconvert().none(),
          nb::arg().noconvert(), nb::arg().noconvert(), nb::arg(), nb::arg(), nb::arg().none());
    using Out = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    m.def(("product_count_" + suffix).c_str(),
          [](Array1<I> indptr, Array1<I> indices, Maybe1<T> weights, Maybe1<I> own, Maybe1<T> left, Maybe1<T> right,
             Maybe1<T> keep, Array1<I> h_indptr, Array1<I> h_indices, Array1<T> h_values, int64_t n_columns, Out counts,
             int n_threads) {
              without_gil(n_threads, [&](sgc::Team& team) {
                  const auto product = product_of<T, I>(team, indptr, indices, weights, own, left, right, keep, h_indptr,
                                                        h_indices, h_values, n_columns);
                  sgc::require(int64_t(counts.shape(0)) == product.n_rows, "another number of counts than of rows");
                  product.count(team, counts.data());
              });
          });
    m.def(("product_fill_" + suffix).c_str(),
          [](Array1<I> indptr, Array1<I> indices, Maybe1<T> weights, Maybe1<I> own, Maybe1<T> left, Maybe1<T> right,
             Maybe1<T> keep, Array1<I> h_indptr, Array1<I> h_indices, Array1<T> h_values, int64_t n_columns,
             Array1<int64_t> out_indptr, nb::ndarray<I, nb::ndim<1>, nb::c_contig, nb::device::cpu> out_indices,
             nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu> out_values, int n_threads) {
              without_gil(n_threads, [&](sgc::Team& team) {
                  const auto product = product_of<T, I>(team, indptr, indices, weights, own, left, right, keep, h_indptr,
                                                        h_indices, h_values, n_columns);
                  const int64_t n_entries = int64_t(out_indices.shape(0));
                  sgc::require(int64_t(out_indptr.shape(0)) == product.n_rows + 1 &&
                                   int64_t(out_values.shape(0)) == n_entries &&
                                   sgc::is_indptr(out_indptr.data(), product.n_rows, n_entries),
                               "a result of another shape");
                  product.fill(team, out_indptr.data(), out_indices.data(), out_values.data());
              });
          });
    using Parts = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    m.def(("product_extremes_" + suffix).c_str(),
          [](Array1<I> indptr, Array1<I> indices, Array1<T> weights, Array1<I> h_indptr, Array1<I> h_indices,
             Array1<T> h_values, Array1<int64_t> parts, Parts low, Parts high, int n_threads, Callback on_progress) {
              without_gil(n_threads, [&](sgc::Team& team) {
                  const auto product = product_of<T, I>(team, indptr, indices, weights, {}, {}, {}, {}, h_indptr,
                                                        h_indices, h_values, int64_t(low.shape(1)));
                  sgc::require(low.shape(0) == high.shape(0) && low.shape(1) == high.shape(1) &&
                                   int64_t(parts.shape(0)) == product.n_rows,
                               "extremes of another shape");
                  sgc::require_range(team, parts.data(), product.n_rows, 0, int64_t(low.shape(0)), "a part out of range");
                  product.extremes(team, parts.data(), int64_t(low.shape(0)), low.data(), high.data(),
                                   reporter(team, on_progress));
              });
          },
          nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert(),
          nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert(),
          nb::arg().noconvert(), nb::arg(), nb::arg().none());
}

template <class I>
float gather_probe(const Array1<I>& indptr, const Array1<I>& indices,
                   nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu> values, int n_threads) {
    if (values.shape(1) * sizeof(float) != sgc::kLineBytes) throw std::invalid_argument("one cache line for every node");
    const int64_t n_rows = int64_t(indptr.shape(0)) - 1, stored = int64_t(indices.shape(0));
    float total = 0;
    without_gil(n_threads, [&](sgc::Team& team) {
        sgc::require_rows(team, indptr.data(), n_rows, indices.data(), stored, int64_t(values.shape(0)));
        std::vector<float> sums(static_cast<size_t>(team.size()) * 64, 0.0f);  // far enough apart for every thread
        const auto kernel = sgc::gather_kernel<I>();
        team.share(n_rows, sgc::kRowsAtOnce, [&](int64_t first, int64_t last, int thread) {
            kernel(indices.data(), stored, values.data(), sums.data() + size_t(thread) * 64, int64_t(indptr.data()[first]),
                   int64_t(indptr.data()[last]));
        });
        for (float sum : sums) total += sum;
    });
    return total;
}

}  // namespace

NB_MODULE(_kernel, m) {
    m.doc() = "Hops over packed blocks of columns, and sparse products, on threads of their own.";
    m.attr("LINE_BYTES") = sgc::kLineBytes;
    m.def("instruction_set", &sgc::instruction_set);
    bind<float, int32_t>(m, "f32_i32");
    bind<float, int64_t>(m, "f32_i64");
    bind<double, int32_t>(m, "f64_i32");
    bind<double, int64_t>(m, "f64_i64");
    bind_rows<float, int32_t>(m, "f32_i32");
    bind_rows<float, int64_t>(m, "f32_i64");
    bind_rows<double, int32_t>(m, "f64_i32");
    bind_rows<double, int64_t>(m, "f64_i64");
    bind_pattern<int32_t>(m, "i32");
    bind_pattern<int64_t>(m, "i64");
    bind_small(m);
    m.def("gather_probe_i32", &gather_probe<int32_t>);
    m.def("gather_probe_i64", &gather_probe<int64_t>);
}
