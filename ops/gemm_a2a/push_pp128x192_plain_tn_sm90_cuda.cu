#include <megaup/ops/gemm_a2a/push_kernel_cuda.cuh>

namespace megaup::ops {

extern const CompiledPush push_pp128x192_plain_tn;

const CompiledPush push_pp128x192_plain_tn =
    device::compiled<device::PushConfig<Schedule::ping_pong, 128, 192, 2, 1, true, Store::plain>>("pp128x192_plain");

}  // namespace megaup::ops
