#include <megaup/ops/gemm_a2a/push_kernel_cuda.cuh>

namespace megaup::ops {

extern const CompiledPush push_pp128x192_nn;

const CompiledPush push_pp128x192_nn =
    device::compiled<device::PushConfig<Schedule::ping_pong, 128, 192, 2, 1, false>>("pp128x192");

}  // namespace megaup::ops
