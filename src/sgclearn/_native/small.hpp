// Dense work on a few hundred samples, where calling a library takes longer than the work.
//
// Matrices with a column a class are padded to whole lines of eight numbers, so that a row is one vector or two.
#pragma once

#include <cstdint>

namespace sgc {

inline constexpr int kLane = 8;       // numbers of a line
inline constexpr int kMostLines = 2;  // of a padded row: 16 classes

// Softmax regression over samples Z (m, d) with targets Y (m, C): see `classify/loss.py` for every formula.
struct SmallProblem {
    const double *Z, *Y, *weights, *decay;  // weights (m,) add up to one, decay (d,)
    int64_t n_samples, n_columns;
    int n_classes;
};

// H step = -gradient at the point whose probabilities are P, by conjugate gradients with the preconditioner of
// `classify/curvature.py`, where `squares` is the spread of the samples along every column.
struct SmallSystem {
    const double *Z, *P, *weights, *decay, *squares, *gradient;  // (m, d), (m, C), (m,), (d,), (d,), (d, C)
    int64_t n_samples, n_columns;
    int n_classes, most_steps;
    bool softmax;   // else a sigmoid for every class
    double enough;  // the norm of the residual at which to stop
};

// Sparse rows times a thin dense V, padded to lines of `width` numbers; `scale` may be null.
template <class T, class I>
struct ThinProduct {
    const I *indptr, *indices;
    const T* values;
    const double *V, *scale;  // V aligned like a line
    int64_t n_rows, n_columns;  // of the result
    int64_t n_inputs;           // rows of V
    int64_t width;              // 4 or 8
    int64_t block;              // first column of the result that V stands for
};

struct SmallKernels {
    // Value; writes the gradient (d, C) and the probabilities P (m, C).
    double (*evaluate)(const SmallProblem&, const double* W, double* gradient, double* P);
    // Writes the step (d, C); returns the number of products with H.
    int (*newton_step)(const SmallSystem&, double* step);
};

SmallKernels small_kernels();

template <class T, class I>
struct RowKernels {
    // Largest absolute value of all rows, NaN if one of them is not finite; norms (n,) of the rows if not null, their
    // squares for l2.
    double (*scan)(const I* indptr, const T* values, int64_t n_rows, bool squares, double* norms);
    // Whether every column index was in range; from one that is not on, rows are left out.
    bool (*thin)(const ThinProduct<T, I>&, double* out, int64_t first, int64_t last);
    // Z Z^T (m, m) of sparse rows with ascending columns.
    void (*gram)(const I* indptr, const I* indices, const T* values, int64_t n_rows, int64_t n_columns, double* out);
};

template <class T, class I>
RowKernels<T, I> row_kernels();

}  // namespace sgc
