// The kernels for avx2; the flags are in CMakeLists.txt.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "hop.hpp"
#include "small.hpp"

namespace sgc::avx2 {
inline constexpr int kVectorBytes = 32;
#include "hop_kernel.inc"
#include "small_kernel.inc"
}  // namespace sgc::avx2
