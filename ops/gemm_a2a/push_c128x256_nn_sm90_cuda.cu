#include <megaup/ops/gemm_a2a/push_kernel_cuda.cuh>

namespace megaup::ops {

extern const CompiledPush push_c128x256_nn;

const CompiledPush push_c128x256_nn =
    device::compiled<device::PushConfig<Schedule::cooperative, 128, 256, 2, 1, false>>("c128x256");

}  // namespace megaup::ops
