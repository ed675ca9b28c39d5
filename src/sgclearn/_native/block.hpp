// Memory for packed blocks, and the way in and out of them.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "hop.hpp"

namespace sgc {

// A packed block: `lines` cache lines for every node, in huge pages where the system gives them (half the
// time of a gather is otherwise spent on looking up addresses).
template <class T>
class Block {
  public:
    Block(int64_t n_nodes, int width) : bytes_(round_up(n_nodes * width * int64_t(sizeof(T)))) {
        data_ = static_cast<T*>(std::aligned_alloc(alignment(), bytes_));
        if (!data_) throw std::bad_alloc();
#ifdef __linux__
        if (bytes_ >= kHugePage) madvise(data_, bytes_, MADV_HUGEPAGE);  // a wish, no more: failing is fine
#endif
    }
    ~Block() { std::free(data_); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    T* data() { return data_; }
    void swap(Block& other) { std::swap(data_, other.data_), std::swap(bytes_, other.bytes_); }

  private:
    static constexpr size_t kHugePage = size_t(1) << 21;
    size_t alignment() const { return bytes_ >= kHugePage ? kHugePage : size_t(4096); }
    static size_t round_up(int64_t bytes) {
        const size_t unit = size_t(bytes) >= kHugePage ? kHugePage : size_t(4096);
        return (size_t(bytes) / unit + 1) * unit;
    }

    size_t bytes_;
    T* data_;
};

// Where the features come from. `rows` names the row of every input node, null for all in their order.
template <class T>
struct DenseSource {
    const T* data;
    int64_t row_stride, column_stride;  // in elements
    const int64_t* rows;

    void pack(int64_t first, int64_t last, int64_t column, int count, int width, const T* scale, T* block) {
        for (int64_t i = first; i < last; ++i) {
            const int64_t row = rows ? rows[i] : i;
            const T* from = data + row * row_stride + column * column_stride;
            // Rows lie far apart: the processor does not guess the next one by itself.
            if (i + 8 < last) __builtin_prefetch(data + (rows ? rows[i + 8] : i + 8) * row_stride + column * column_stride);
            T* to = block + i * width;
            const T factor = scale[i];
            if (column_stride == 1)
                for (int c = 0; c < count; ++c) to[c] = factor * from[c];
            else
                for (int c = 0; c < count; ++c) to[c] = factor * from[c * column_stride];
            for (int c = count; c < width; ++c) to[c] = T(0);
        }
    }
};

// Rows of a matrix in CSR form with ascending columns. Blocks come in the order of their columns, so a
// cursor in every row makes one pass over the stored entries serve all of them.
template <class T, class I>
struct SparseSource {
    const I* indptr;
    const I* indices;
    const T* values;
    const int64_t* rows;
    std::vector<int64_t> cursor;

    SparseSource(const I* indptr_, const I* indices_, const T* values_, const int64_t* rows_, int64_t n_inputs)
        : indptr(indptr_), indices(indices_), values(values_), rows(rows_), cursor(size_t(n_inputs)) {
        for (int64_t i = 0; i < n_inputs; ++i) cursor[size_t(i)] = int64_t(indptr[rows ? rows[i] : i]);
    }

    void pack(int64_t first, int64_t last, int64_t column, int count, int width, const T* scale, T* block) {
        for (int64_t i = first; i < last; ++i) {
            T* to = block + i * width;
            for (int c = 0; c < width; ++c) to[c] = T(0);
            const int64_t end = int64_t(indptr[(rows ? rows[i] : i) + 1]);
            int64_t k = cursor[size_t(i)];
            for (; k < end && int64_t(indices[k]) < column + count; ++k) to[int64_t(indices[k]) - column] = scale[i] * values[k];
            cursor[size_t(i)] = k;
        }
    }
};

// Where a sum of powers goes: `out[m] (+)= coefficient[k] * scale[m] * P_k[place[k][m]]`.
template <class T>
struct Output {
    T* data;
    int64_t row_stride;
    const double* coefficients;  // one for every power 0..K

    void add(int64_t first, int64_t last, int k, bool fresh, int64_t column, int count, int width, const int64_t* place,
             const T* scale, const T* block) const {
        const T coefficient = static_cast<T>(coefficients[k]);
        for (int64_t m = first; m < last; ++m) {
            const T* from = block + (place ? place[m] : m) * width;
            T* to = data + m * row_stride + column;
            const T factor = coefficient * scale[m];
            if (fresh)
                for (int c = 0; c < count; ++c) to[c] = factor * from[c];
            else
                for (int c = 0; c < count; ++c) to[c] += factor * from[c];
        }
    }
};

}  // namespace sgc
