// The stored entries of a graph in another order, for graphs whose packed block is larger than the cache of a core.
//
// Rows are cut into bands whose sums fit into that cache. The entries of a band stand in the order of the node they
// read, so that the block is read from front to back, once for every band, and what is far apart is near: the sums.
// An entry is sixteen bits, half of an index: which row of the band, and how many nodes further than the entry before.
// They need no memory of their own: they lie where the last columns of the result will be, until those are computed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "team.hpp"

namespace sgc {

inline constexpr int kRowBits = 13;
inline constexpr int kNobody = (1 << kRowBits) - 1;  // a row that is not there: such entries only lead further
inline constexpr int kMostFurther = (1 << (16 - kRowBits)) - 1;

// Memory in pieces of equal size and distance, `length` entries each: the ends of the rows of the result.
struct Pieces {
    char* first;
    int64_t distance;  // in bytes
    int64_t count, length;

    uint16_t* piece(int64_t p) const { return reinterpret_cast<uint16_t*>(first + p * distance); }
    Pieces from(int64_t p) const { return {first + p * distance, distance, count - p, length}; }
};

class Bands {
  public:
    // A band has `rows_of_band` rows, from one to kNobody, and the last one what is left. It begins with a piece.
    template <class I>
    Bands(const I* indptr, const I* indices, int64_t n_rows, int64_t n_inputs, int64_t rows_of_band, Pieces pieces,
          Team& team)
        : n_rows_(n_rows), rows_of_band_(rows_of_band), pieces_(pieces) {
        const int64_t count = (n_rows + rows_of_band - 1) / rows_of_band;
        first_piece_.assign(1, 0);
        for (int64_t band = 0; band < count; ++band) {
            const int64_t most = most_entries(int64_t(indptr[end(band)] - indptr[begin(band)]), n_inputs);
            first_piece_.push_back(first_piece_.back() + (most + pieces.length - 1) / pieces.length);
        }
        if (first_piece_.back() > pieces.count) throw std::invalid_argument("too little room for bands");
        n_entries_.resize(size_t(count));
        std::vector<Scratch> scratch(size_t(team.size()));  // of every thread
        team.share(count, 1, [&](int64_t first, int64_t last, int thread) {
            for (int64_t band = first; band < last; ++band)
                n_entries_[size_t(band)] = fill(indptr + begin(band), indices, end(band) - begin(band), n_inputs,
                                                scratch[size_t(thread)], entries(band));
        });
    }

    int64_t count() const { return int64_t(n_entries_.size()); }
    int64_t begin(int64_t band) const { return band * rows_of_band_; }
    int64_t end(int64_t band) const { return std::min(begin(band) + rows_of_band_, n_rows_); }
    Pieces entries(int64_t band) const { return pieces_.from(first_piece_[size_t(band)]); }
    int64_t n_entries(int64_t band) const { return n_entries_[size_t(band)]; }

  private:
    struct Scratch {
        std::vector<uint32_t> place;    // of the entries that read a node
        std::vector<uint16_t> entries;  // of one band, in one piece
    };

    // A counting sort by the node that is read; gives the number of entries.
    template <class I>
    static int64_t fill(const I* indptr, const I* indices, int64_t n_rows, int64_t n_inputs, Scratch& scratch,
                        const Pieces& pieces) {
        auto& place = scratch.place;
        auto& entries = scratch.entries;
        place.assign(size_t(n_inputs), 0);
        for (int64_t k = int64_t(indptr[0]); k < int64_t(indptr[n_rows]); ++k) ++place[size_t(indices[k])];
        entries.assign(size_t(most_entries(indptr[n_rows] - indptr[0], n_inputs)), 0);
        uint32_t next = 0;
        int64_t at = 0;
        for (int64_t node = 0; node < n_inputs; ++node) {
            const uint32_t readers = place[size_t(node)];
            if (!readers) continue;
            for (; node - at > kMostFurther; at += kMostFurther)
                entries[next++] = uint16_t(kMostFurther << kRowBits | kNobody);
            entries[next] = uint16_t((node - at) << kRowBits);
            place[size_t(node)] = next;
            next += readers;
            at = node;
        }
        for (int64_t i = 0; i < n_rows; ++i)
            for (int64_t k = int64_t(indptr[i]); k < int64_t(indptr[i + 1]); ++k)
                entries[place[size_t(indices[k])]++] |= uint16_t(i);
        for (int64_t p = 0, first = 0; first < int64_t(next); ++p, first += pieces.length)
            std::copy_n(entries.data() + first, std::min(pieces.length, int64_t(next) - first), pieces.piece(p));
        return next;
    }

    static int64_t most_entries(int64_t stored, int64_t n_inputs) { return stored + n_inputs / kMostFurther; }

    int64_t n_rows_, rows_of_band_;
    Pieces pieces_;
    std::vector<int64_t> first_piece_, n_entries_;  // of every band
};

}  // namespace sgc
