// The kernels for baseline; the flags are in CMakeLists.txt.
#include "hop.hpp"

namespace sgc::baseline {
#include "hop_kernel.inc"
}  // namespace sgc::baseline
