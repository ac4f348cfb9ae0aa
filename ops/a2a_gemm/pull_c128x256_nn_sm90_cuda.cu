#include <megaup/ops/a2a_gemm/pull_kernel_cuda.cuh>

namespace megaup::ops {

extern const CompiledPull pull_c128x256_nn;
const CompiledPull pull_c128x256_nn =
    device::compiled_pull<device::PullConfig<Schedule::cooperative, 128, 256, 2, 1, false>>("c128x256");

}  // namespace megaup::ops
