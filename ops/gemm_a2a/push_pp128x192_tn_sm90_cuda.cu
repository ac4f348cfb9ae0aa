#include <megaup/ops/gemm_a2a/push_kernel_cuda.cuh>

namespace megaup::ops {

extern const CompiledPush push_pp128x192_tn;

const CompiledPush push_pp128x192_tn =
    device::compiled<device::PushConfig<Schedule::ping_pong, 128, 192, 2, 1, true>>("pp128x192");

}  // namespace megaup::ops
