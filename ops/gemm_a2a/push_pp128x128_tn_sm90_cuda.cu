#include <megaup/ops/gemm_a2a/push_kernel_cuda.cuh>

namespace megaup::ops {

extern const CompiledPush push_pp128x128_tn;

const CompiledPush push_pp128x128_tn =
    device::compiled<device::PushConfig<Schedule::ping_pong, 128, 128, 2, 1, true>>("pp128x128");

}  // namespace megaup::ops
