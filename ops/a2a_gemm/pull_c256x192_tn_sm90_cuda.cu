#include <megaup/ops/a2a_gemm/pull_kernel_cuda.cuh>

namespace megaup::ops {

extern const CompiledPull pull_c256x192_tn;
const CompiledPull pull_c256x192_tn =
    device::compiled_pull<device::PullConfig<Schedule::cooperative, 256, 192, 1, 2, true>>("c256x192");

}  // namespace megaup::ops
