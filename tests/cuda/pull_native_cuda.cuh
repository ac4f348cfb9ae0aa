#pragma once

#include <native_steps_cuda.cuh>
#include <pull_case_cuda.cuh>

namespace megaup::cuda_tests {

/// The native way of one rank beside its GEMM: pack the own heads into slabs, copy the peers' slabs here, unpack them
/// into the wide A (adding replicated heads), each in one pass. What the peers' send buffers hold is random: only times
/// are of interest; the native arms of the program are checked by the gate.
class PullNative {
 public:
  explicit PullNative(const PullCase& c);

  /// Pack, copies, unpack, then `gemm` over c.wide.
  std::shared_ptr<ops::PreparedKernel> with(std::shared_ptr<ops::PreparedKernel> gemm) const;
  /// The same with slabs copied from where they lie in the peers' heads, where they are one contiguous piece (one kind
  /// of head, rows of one run). Null elsewhere.
  std::shared_ptr<ops::PreparedKernel> without_pack(std::shared_ptr<ops::PreparedKernel> gemm) const;

 private:
  const PullCase& case_;
  std::int64_t slab_bytes_;
  Memory send_, receive_, peers_send_, rows_;  // [P][M, slab] three times, [P][M]
  std::shared_ptr<ops::PreparedKernel> pack_, copies_, unpack_, sums_;
};

}  // namespace megaup::cuda_tests
