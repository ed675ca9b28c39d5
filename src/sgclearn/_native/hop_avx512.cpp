// The kernels for avx512; the flags are in CMakeLists.txt.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "hop.hpp"
#include "small.hpp"

namespace sgc::avx512 {
inline constexpr int kVectorBytes = 64;
#include "hop_kernel.inc"
#include "small_kernel.inc"
}  // namespace sgc::avx512
