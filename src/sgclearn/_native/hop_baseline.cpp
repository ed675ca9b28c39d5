// The kernels for baseline; the flags are in CMakeLists.txt.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "hop.hpp"
#include "small.hpp"

namespace sgc::baseline {
inline constexpr int kVectorBytes = 16;  // what SSE2 and NEON have
#include "hop_kernel.inc"
#include "small_kernel.inc"
}  // namespace sgc::baseline
