// Which kernels run is decided once, from what the processor says it can do.
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "hop.hpp"
#include "small.hpp"

namespace sgc {

#define SGC_DECLARE(isa) \
    namespace isa { \
    template <class T, class I> \
    HopKernel<T, I> choose(bool weighted, int lines); \
    template <class I> \
    GatherKernel<I> choose_gather(); \
    template <class I> \
    RangeKernel<I> choose_range(); \
    template <class I> \
    DescentKernel<I> choose_descents(); \
    SmallKernels choose_small(); \
    template <class T, class I> \
    RowKernels<T, I> choose_rows(); \
    }
SGC_DECLARE(baseline)
#ifdef SGC_X86
SGC_DECLARE(avx2)
SGC_DECLARE(avx512)
#endif

namespace {

enum class Level { baseline, avx2, avx512 };

Level level() {
    static const Level chosen = [] {
        // At most so much: a way to test the slower kernels on a processor that has the faster ones.
        const char* limit = std::getenv("SGCLEARN_INSTRUCTIONS");
        const std::string most = limit ? limit : "";
        if (most != "" && most != "avx512" && most != "avx2" && most != "baseline")
            throw std::invalid_argument("SGCLEARN_INSTRUCTIONS must be avx512, avx2 or baseline: got '" + most +
                                        "'; leave it out for the best that the processor has.");
#ifdef SGC_X86
        __builtin_cpu_init();
        if (most == "baseline") return Level::baseline;
        if (most != "avx2" && __builtin_cpu_supports("avx512f")) return Level::avx512;
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Level::avx2;
#endif
        return Level::baseline;
    }();
    return chosen;
}

}  // namespace

const char* instruction_set() {
    switch (level()) {
        case Level::avx512: return "avx512";
        case Level::avx2: return "avx2";
        default: return "baseline";
    }
}

template <class T, class I>
HopKernel<T, I> hop_kernel(bool weighted, int lines) {
#ifdef SGC_X86
    if (level() == Level::avx512) return avx512::choose<T, I>(weighted, lines);
    if (level() == Level::avx2) return avx2::choose<T, I>(weighted, lines);
#endif
    return baseline::choose<T, I>(weighted, lines);
}

template <class I>
GatherKernel<I> gather_kernel() {
#ifdef SGC_X86
    if (level() == Level::avx512) return avx512::choose_gather<I>();
    if (level() == Level::avx2) return avx2::choose_gather<I>();
#endif
    return baseline::choose_gather<I>();
}

template <class I>
RangeKernel<I> range_kernel() {
#ifdef SGC_X86
    if (level() == Level::avx512) return avx512::choose_range<I>();
    if (level() == Level::avx2) return avx2::choose_range<I>();
#endif
    return baseline::choose_range<I>();
}

template <class I>
DescentKernel<I> descent_kernel() {
#ifdef SGC_X86
    if (level() == Level::avx512) return avx512::choose_descents<I>();
    if (level() == Level::avx2) return avx2::choose_descents<I>();
#endif
    return baseline::choose_descents<I>();
}

SmallKernels small_kernels() {
#ifdef SGC_X86
    if (level() == Level::avx512) return avx512::choose_small();
    if (level() == Level::avx2) return avx2::choose_small();
#endif
    return baseline::choose_small();
}

template <class T, class I>
RowKernels<T, I> row_kernels() {
#ifdef SGC_X86
    if (level() == Level::avx512) return avx512::choose_rows<T, I>();
    if (level() == Level::avx2) return avx2::choose_rows<T, I>();
#endif
    return baseline::choose_rows<T, I>();
}

template HopKernel<float, int32_t> hop_kernel<float, int32_t>(bool, int);
template HopKernel<float, int64_t> hop_kernel<float, int64_t>(bool, int);
template HopKernel<double, int32_t> hop_kernel<double, int32_t>(bool, int);
template HopKernel<double, int64_t> hop_kernel<double, int64_t>(bool, int);
template RowKernels<float, int32_t> row_kernels<float, int32_t>();
template RowKernels<float, int64_t> row_kernels<float, int64_t>();
template RowKernels<double, int32_t> row_kernels<double, int32_t>();
template RowKernels<double, int64_t> row_kernels<double, int64_t>();
template GatherKernel<int32_t> gather_kernel<int32_t>();
template GatherKernel<int64_t> gather_kernel<int64_t>();
template RangeKernel<int32_t> range_kernel<int32_t>();
template RangeKernel<int64_t> range_kernel<int64_t>();
template DescentKernel<int32_t> descent_kernel<int32_t>();
template DescentKernel<int64_t> descent_kernel<int64_t>();

}  // namespace sgc
