// One hop over one packed block of columns: the loop in which all the time goes.
//
// A block holds a few columns of all nodes, node after node, in whole cache lines. With p the scale by
// which a node is packed (P = p H) and S = diag(q) A diag(p) + diag(c), one hop is
//
//     P'[i] = mix[i] * sum_j a_ij P[j] + keep[i] * P[own[i]],      mix = p q, keep = c,
//
// so that the values of S never exist, and an unweighted graph is nothing but its pattern.
#pragma once

#include <cstdint>

namespace sgc {

inline constexpr int kLineBytes = 64;

template <class T, class I>
struct Hop {
    const I* indptr;
    const I* indices;
    const T* weights;  // null: every stored entry is one
    const I* own;      // where the node of row i stands in the input, -1 for nowhere; null: at i
    const T* mix;
    const T* keep;     // null: no self-loops
    int64_t n_rows;
};

// Rows first..last of a hop, for blocks that are `lines` cache lines wide.
template <class T, class I>
using HopKernel = void (*)(const Hop<T, I>&, const T* in, T* out, int64_t first, int64_t last);

// The fastest kernel that this processor can run; lines is 1, 2 or 4.
template <class T, class I>
HopKernel<T, I> hop_kernel(bool weighted, int lines);

// Adds the lines of the stored entries first..last into `total` and does nothing else with them: the limit
// that the benchmark measures the kernels against. `stored` is the number of entries in all.
template <class I>
using GatherKernel = void (*)(const I* indices, int64_t stored, const float* lines, float* total, int64_t first,
                              int64_t last);

template <class I>
GatherKernel<I> gather_kernel();

// Whether all values lie in [low, high); high is above low.
template <class I>
using RangeKernel = bool (*)(const I* values, int64_t n, I low, I high);

template <class I>
RangeKernel<I> range_kernel();

// How many values do not exceed the one before them, -1 where one is not in [0, high).
template <class I>
using DescentKernel = int64_t (*)(const I* values, int64_t n, I high);

template <class I>
DescentKernel<I> descent_kernel();

// "avx512", "avx2" or "baseline": what hop_kernel chooses from. Throws, as do the other ways to ask for a kernel, if
// SGCLEARN_INSTRUCTIONS names none of these.
const char* instruction_set();

}  // namespace sgc
