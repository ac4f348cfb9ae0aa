#include <megaup/ops/gemm_a2a/push_kernel_cuda.cuh>

namespace megaup::ops {

extern const CompiledPush push_c128x256_tn;

const CompiledPush push_c128x256_tn =
    device::compiled<device::PushConfig<Schedule::cooperative, 128, 256, 2, 1, true>>("c128x256");

}  // namespace megaup::ops
