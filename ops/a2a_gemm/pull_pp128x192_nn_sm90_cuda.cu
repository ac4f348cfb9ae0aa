#include <megaup/ops/a2a_gemm/pull_kernel_cuda.cuh>

namespace megaup::ops {

extern const CompiledPull pull_pp128x192_nn;
const CompiledPull pull_pp128x192_nn =
    device::compiled_pull<device::PullConfig<Schedule::ping_pong, 128, 192, 2, 1, false>>("pp128x192");

}  // namespace megaup::ops
