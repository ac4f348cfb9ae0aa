#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <megaup/core/matrix.hpp>
#include <megaup/ops/operation.hpp>
#include <megaup/ops/prepared_kernel_cuda.cuh>

namespace megaup::ops {

/// C [m, n] = A [m, k] * B on the device, BF16 in and out, FP32 sums. B is [n, k] if weight_transposed, else [k, n].
struct LtGemm {
  core::ConstBf16Matrix a, b;
  core::Bf16Matrix c;
  bool weight_transposed;
};

/// cuBLASLt as Transformer Engine calls it: FP32 compute and scale, alpha and beta on the host, one requested heuristic
/// result and the first used, 32 MiB + 1 KiB of workspace on compute capability 9 and above, else 4 MiB, no SM target.
/// Descriptors and the heuristic are made in prepare(), not in run(). All GEMMs of one object share its workspace: they
/// run one after the other.
///
/// prepare() also runs the GEMM once, in `stream`, and waits for it: cuBLASLt loads its kernels when they are first
/// launched, and loading waits for all kernels of the device, one of which may be waiting for this rank. So a collective
/// call must come between prepare() and the first launch of anything that waits for peers. C is overwritten.
///
/// Ranks: not collective; belongs to the thread whose device is current. Errors: Error{environment}, naming the step.
class CublasLt {
 public:
  static constexpr std::int64_t kWorkspaceBytes = 32 * 1024 * 1024 + 1024;
  static constexpr std::int64_t kWorkspaceBytesBefore9 = 4 * 1024 * 1024;

  class Gemm : public PreparedKernel {
   public:
    virtual std::string describe() const = 0;  ///< what the heuristic chose
  };

  CublasLt();
  std::unique_ptr<Gemm> prepare(const LtGemm& gemm, cudaStream_t stream) const;

 private:
  struct Session;
  std::shared_ptr<const Session> session_;  // the GEMMs keep it alive
};

}  // namespace megaup::ops
