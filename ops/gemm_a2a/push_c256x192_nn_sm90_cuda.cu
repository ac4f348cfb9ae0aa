#include <megaup/ops/gemm_a2a/push_kernel_cuda.cuh>

namespace megaup::ops {

extern const CompiledPush push_c256x192_nn;

const CompiledPush push_c256x192_nn =
    device::compiled<device::PushConfig<Schedule::cooperative, 256, 192, 1, 2, false>>("c256x192");

}  // namespace megaup::ops
