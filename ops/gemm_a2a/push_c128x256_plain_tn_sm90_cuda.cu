#include <megaup/ops/gemm_a2a/push_kernel_cuda.cuh>

namespace megaup::ops {

extern const CompiledPush push_c128x256_plain_tn;

const CompiledPush push_c128x256_plain_tn =
    device::compiled<device::PushConfig<Schedule::cooperative, 128, 256, 2, 1, true, Store::plain>>("c128x256_plain");

}  // namespace megaup::ops
