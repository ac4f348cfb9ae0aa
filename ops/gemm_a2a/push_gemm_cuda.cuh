#pragma once

#include <memory>

#include <megaup/ops/gemm_a2a/end_barrier_cuda.cuh>
#include <megaup/ops/gemm_a2a/push_map.hpp>
#include <megaup/ops/gemm_a2a/push_plan.hpp>

/// The kernels of push_plan.hpp, to be prepared once and launched often.
namespace megaup::ops {

/// C = A * B on the device, all BF16 and contiguous, FP32 sums.
struct DeviceGemm {
  GemmShape shape;  // m = M, n = W, k = K
  const void* a;    // [M, K]
  const void* b;    // [W, K] if shape.weight_transposed, else [K, W]
  Raster raster;
  int swizzle;
  int sms;
};

/// Where the heads go. Rank p's tensor of kind t is [rows, widths[t]] at base[p*3 + t]; width 0 where the operation
/// moves no such head.
struct PushHomes {
  void* base[PushMap::kMaxHomes];
  std::int64_t rows;                // B*S
  std::int64_t widths[kPushKinds];  // local heads * D
};

/// A kernel with its parameters. run() only launches: it allocates nothing, waits for nothing, and can be captured in a
/// graph.
class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;
  virtual void run(cudaStream_t stream) const = 0;
};

using PreparePush = std::unique_ptr<PreparedKernel> (*)(const DeviceGemm&, const PushMap&, const PushHomes&,
                                                        const EndBarrier&);
using PreparePlain = std::unique_ptr<PreparedKernel> (*)(const DeviceGemm&, void* c);

/// One compiled kernel: the push, and the same GEMM with its plain store into C [M, W], to compare with.
struct CompiledPush {
  std::string_view name;  // of push_kernels()
  bool weight_transposed;
  PreparePush push;
  PreparePlain plain;
};
std::span<const CompiledPush> compiled_pushes();

extern const CompiledPush c128x256_tn, c128x256_nn, c256x192_tn, c256x192_nn, pp128x192_tn, pp128x192_nn, pp128x128_tn,
    pp128x128_nn;

}  // namespace megaup::ops
