#include <megaup/ops/a2a_gemm/pull_kernel_cuda.cuh>

namespace megaup::ops {

extern const CompiledPull pull_pp128x128_tn;
const CompiledPull pull_pp128x128_tn =
    device::compiled_pull<device::PullConfig<Schedule::ping_pong, 128, 128, 2, 1, true>>("pp128x128");

}  // namespace megaup::ops
