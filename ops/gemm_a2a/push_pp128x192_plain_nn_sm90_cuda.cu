#include <megaup/ops/gemm_a2a/push_kernel_cuda.cuh>

namespace megaup::ops {

extern const CompiledPush push_pp128x192_plain_nn;

const CompiledPush push_pp128x192_plain_nn =
    device::compiled<device::PushConfig<Schedule::ping_pong, 128, 192, 2, 1, false, Store::plain>>("pp128x192_plain");

}  // namespace megaup::ops
