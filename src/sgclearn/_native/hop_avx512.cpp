// The kernels for avx512; the flags are in CMakeLists.txt.
#include "hop.hpp"

namespace sgc::avx512 {
#include "hop_kernel.inc"
}  // namespace sgc::avx512
