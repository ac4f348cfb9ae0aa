#include <megaup/ops/gemm_a2a/push_kernel_cuda.cuh>

namespace megaup::ops {

extern const CompiledPush push_pp128x128_nn;

const CompiledPush push_pp128x128_nn =
    device::compiled<device::PushConfig<Schedule::ping_pong, 128, 128, 2, 1, false>>("pp128x128");

}  // namespace megaup::ops
