// The Python side of the kernels: arrays in, arrays out. The callers in propagation/engines have checked every shape;
// here only types are.
#include <stdexcept>
#include <string>

#include "binding.hpp"
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

template <class T>
using OutputArray = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

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
    sgc::SparseSource<T, I> source(indptr.data(), indices.data(), values.data(), data_or_null(rows), walk.n_inputs);
    without_gil(n_threads, [&](sgc::Team& team) {
        sgc::propagate(walk, source, output, lines, team, reporter(team, progress));
    });
}

template <class T, class I>
sgc::SparseProduct<T, I> product_of(const Array1<I>& indptr, const Array1<I>& indices, const Maybe1<T>& weights,
                                    const Maybe1<I>& own, const Maybe1<T>& left, const Maybe1<T>& right,
                                    const Maybe1<T>& keep, const Array1<I>& h_indptr, const Array1<I>& h_indices,
                                    const Array1<T>& h_values, int64_t n_columns) {
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
              const auto product = product_of<T, I>(indptr, indices, weights, own, left, right, keep, h_indptr,
                                                    h_indices, h_values, n_columns);
              without_gil(n_threads, [&](sgc::Team& team) { product.count(team, counts.data()); });
          });
    m.def(("product_fill_" + suffix).c_str(),
          [](Array1<I> indptr, Array1<I> indices, Maybe1<T> weights, Maybe1<I> own, Maybe1<T> left, Maybe1<T> right,
             Maybe1<T> keep, Array1<I> h_indptr, Array1<I> h_indices, Array1<T> h_values, int64_t n_columns,
             Array1<int64_t> out_indptr, nb::ndarray<I, nb::ndim<1>, nb::c_contig, nb::device::cpu> out_indices,
             nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu> out_values, int n_threads) {
              const auto product = product_of<T, I>(indptr, indices, weights, own, left, right, keep, h_indptr,
                                                    h_indices, h_values, n_columns);
              without_gil(n_threads, [&](sgc::Team& team) {
                  product.fill(team, out_indptr.data(), out_indices.data(), out_values.data());
              });
          });
    using Parts = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    m.def(("product_extremes_" + suffix).c_str(),
          [](Array1<I> indptr, Array1<I> indices, Array1<T> weights, Array1<I> h_indptr, Array1<I> h_indices,
             Array1<T> h_values, Array1<int64_t> parts, Parts low, Parts high, int n_threads, Callback on_progress) {
              const auto product = product_of<T, I>(indptr, indices, weights, {}, {}, {}, {}, h_indptr, h_indices,
                                                    h_values, int64_t(low.shape(1)));
              without_gil(n_threads, [&](sgc::Team& team) {
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
    const int64_t n_rows = int64_t(indptr.shape(0)) - 1, stored = int64_t(indptr.data()[n_rows]);
    float total = 0;
    without_gil(n_threads, [&](sgc::Team& team) {
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
