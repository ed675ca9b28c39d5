// The kernels for avx2; the flags are in CMakeLists.txt.
#include "hop.hpp"

namespace sgc::avx2 {
#include "hop_kernel.inc"
}  // namespace sgc::avx2
