// K hops of one block of columns after another, from the features to the outputs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "block.hpp"
#include "hop.hpp"
#include "team.hpp"

namespace sgc {

template <class T, class I>
struct Walk {
    std::vector<Hop<T, I>> hops;             // in the order in which they are made
    std::vector<const int64_t*> places;      // for k = 0..K: where the rows stand after k hops; null: all, in order
    const T* pack_scale;                     // p of every input node
    const T* unpack_scale;                   // 1 / p of every row
    int64_t n_inputs, n_rows, n_columns;
};

inline constexpr int64_t kRowsAtOnce = 256;

// Memory beyond input and output: two blocks. `progress(done, of)` counts columns, after every block.
template <class T, class I, class Source>
void propagate(const Walk<T, I>& walk, Source& source, const Output<T>& output, int lines, Team& team,
               const std::function<void(int64_t, int64_t)>& progress) {
    const int width = lines * kLineBytes / int(sizeof(T));
    const int n_hops = int(walk.hops.size());
    int64_t most = walk.n_inputs;
    for (const auto& hop : walk.hops) most = std::max(most, hop.n_rows);
    Block<T> current(most, width), next(most, width);

    for (int64_t column = 0; column < walk.n_columns && !team.stopped(); column += width) {
        const int count = int(std::min<int64_t>(width, walk.n_columns - column));
        bool fresh = true;  // the first term is written, the others are added
        const auto emit = [&](int k, int64_t first, int64_t last, const T* block) {
            output.add(first, last, k, fresh, column, count, width, walk.places[size_t(k)], walk.unpack_scale, block);
        };
        const auto emit_all = [&](int k, const T* block) {
            team.share(walk.n_rows, kRowsAtOnce, [&](int64_t first, int64_t last, int) { emit(k, first, last, block); });
        };

        T* packed = current.data();
        team.share(walk.n_inputs, kRowsAtOnce, [&](int64_t first, int64_t last, int) {
            source.pack(first, last, column, count, width, walk.pack_scale, packed);
        });
        if (output.coefficients[0] != 0) emit_all(0, packed), fresh = false;
        for (int k = 1; k <= n_hops; ++k) {
            const Hop<T, I>& hop = walk.hops[size_t(k - 1)];
            const auto kernel = hop_kernel<T, I>(hop.weights != nullptr, lines);
            const T* in = current.data();
            T* out = next.data();
            const bool wanted = output.coefficients[k] != 0;
            const bool at_once = wanted && walk.places[size_t(k)] == nullptr;  // while the rows are in the cache
            team.share(hop.n_rows, kRowsAtOnce, [&](int64_t first, int64_t last, int) {
                kernel(hop, in, out, first, last);
                if (at_once) emit(k, first, last, out);
            });
            if (wanted && !at_once) emit_all(k, out);
            if (wanted) fresh = false;
            current.swap(next);
        }
        if (!team.stopped()) progress(column + count, walk.n_columns);
    }
}

}  // namespace sgc
