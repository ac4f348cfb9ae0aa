#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <megaup/ops/gemm_a2a/end_barrier_cuda.cuh>
#include <megaup/ops/gemm_a2a/push_map.hpp>
#include <megaup/ops/gemm_a2a/push_plan.hpp>
#include <megaup/ops/prepared_kernel_cuda.cuh>

/// The kernels of push_plan.hpp, to be prepared once and launched often.
namespace megaup::ops {

/// C = A * B on the device, all BF16, FP32 sums. Leading dimensions and addresses are multiples of 16 bytes.
struct DeviceGemm {
  GemmShape shape;        // m = M, n = W, k = K
  const void* a;          // [M, K]
  const void* b;          // [W, K] if shape.weight_transposed, else [K, W]
  std::int64_t lda, ldb;  // elements between rows
  Raster raster;
  int swizzle;
  int sms;
};

/// Where the heads go. Rank p's tensor of kind t is [rows, widths[t]] at base[p*3 + t], its rows pitches[t] elements
/// apart; width 0 where the operation moves no such head.
struct PushHomes {
  void* base[PushMap::kMaxHomes];
  std::int64_t rows;                // B*S
  std::int64_t widths[kPushKinds];  // local heads * D
  std::int64_t pitches[kPushKinds];
};

using PreparePush = std::unique_ptr<PreparedKernel> (*)(const DeviceGemm&, const PushMap&, const PushHomes&,
                                                        const EndBarrier&);
using PreparePlain = std::unique_ptr<PreparedKernel> (*)(const DeviceGemm&, void* c);

/// One compiled kernel: the push, and the same GEMM with its plain store into C [M, W], to compare with.
struct CompiledPush {
  std::string_view name;  // of push_kernels()
  Architecture architecture;
  bool weight_transposed;
  PreparePush push;
  PreparePlain plain;
};
/// From a table that the linker checks: one row a file push_*_sm90_cuda.cu or push_*_sm100_cuda.cu, for each architecture
/// that the program is built for. A device runs those of its own.
std::span<const CompiledPush* const> compiled_pushes();

}  // namespace megaup::ops
