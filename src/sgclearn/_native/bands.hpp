// The stored entries of a graph in another order, for graphs whose packed block is larger than the cache of a core.
//
// Rows are cut into bands whose sums fit into that cache. The entries of a band stand in the order of the node they
// read, so that the block is read from front to back, once for every band, and what is far apart is near: the sums.
// An entry is sixteen bits, half of an index: which row of the band, and how many nodes further than the entry before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "team.hpp"

namespace sgc {

inline constexpr int kRowBits = 13;
inline constexpr int kNobody = (1 << kRowBits) - 1;  // a row that is not there: such entries only lead further
inline constexpr int kMostFurther = (1 << (16 - kRowBits)) - 1;

class Bands {
  public:
    // A band has `rows_of_band` rows, from one to kNobody, and the last one what is left.
    template <class I>
    Bands(const I* indptr, const I* indices, int64_t n_rows, int64_t n_inputs, int64_t rows_of_band, Team& team)
        : n_rows_(n_rows), rows_of_band_(rows_of_band) {
        entries_.resize(size_t((n_rows + rows_of_band - 1) / rows_of_band));
        std::vector<std::vector<uint32_t>> places(size_t(team.size()));  // of a thread, for every node
        team.share(count(), 1, [&](int64_t first, int64_t last, int thread) {
            for (int64_t band = first; band < last; ++band)
                fill(indptr + begin(band), indices, end(band) - begin(band), n_inputs, places[size_t(thread)],
                     entries_[size_t(band)]);
        });
    }

    int64_t count() const { return int64_t(entries_.size()); }
    int64_t begin(int64_t band) const { return band * rows_of_band_; }
    int64_t end(int64_t band) const { return std::min(begin(band) + rows_of_band_, n_rows_); }
    const std::vector<uint16_t>& entries(int64_t band) const { return entries_[size_t(band)]; }

  private:
    // A counting sort by the node that is read.
    template <class I>
    static void fill(const I* indptr, const I* indices, int64_t n_rows, int64_t n_inputs, std::vector<uint32_t>& place,
                     std::vector<uint16_t>& entries) {
        place.assign(size_t(n_inputs), 0);
        for (int64_t k = int64_t(indptr[0]); k < int64_t(indptr[n_rows]); ++k) ++place[size_t(indices[k])];
        const auto each = [&](auto&& leads, auto&& reads) {
            int64_t at = 0;
            for (int64_t node = 0; node < n_inputs; ++node) {
                if (!place[size_t(node)]) continue;
                for (; node - at > kMostFurther; at += kMostFurther) leads();
                reads(place[size_t(node)], int(node - at));
                at = node;
            }
        };
        size_t total = 0;
        each([&] { ++total; }, [&](uint32_t readers, int) { total += readers; });
        entries.assign(total, 0);
        uint32_t next = 0;
        each([&] { entries[next++] = uint16_t(kMostFurther << kRowBits | kNobody); },
             [&](uint32_t& readers, int further) {
                 entries[next] = uint16_t(further << kRowBits);
                 const uint32_t first = next;
                 next += readers;
                 readers = first;
             });
        for (int64_t i = 0; i < n_rows; ++i)
            for (int64_t k = int64_t(indptr[i]); k < int64_t(indptr[i + 1]); ++k)
                entries[place[size_t(indices[k])]++] |= uint16_t(i);
    }

    int64_t n_rows_, rows_of_band_;
    std::vector<std::vector<uint16_t>> entries_;
};

}  // namespace sgc
