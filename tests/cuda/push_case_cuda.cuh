#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <device_data_cuda.cuh>
#include <megaup/ops/gemm_a2a/push_gemm_cuda.cuh>
#include <megaup/ops/head_copy_cuda.cuh>
#include <megaup/ops/operation.hpp>

/// One rank of a GEMM -> A2A on one device, with the buffers of all its peers on the same device ("solo", emulated):
/// inputs, destinations, expected destinations, flags, and the arms over them.
namespace megaup::cuda_tests {

struct PushCase {
  PushCase(const ops::Operation& operation, const core::Problem& problem, std::int64_t rank);

  /// Fills the inputs with uniform BF16 in [-1, 1), the weight in [-1/8, 1/8).
  void randomise(std::uint64_t seed);
  void poison();  ///< every destination
  /// wide = A * B by cuBLASLt; expected = poison with this rank's elements put where core/layout.hpp says, one element
  /// a thread.
  void compute_expected();
  /// Elements of all destinations of all ranks that differ in their bits from the expected ones: wrong values, elements
  /// not written, and elements that belong to others.
  std::int64_t mismatches() const;
  /// Elements of two wide matrices that differ in their bits.
  std::int64_t wide_mismatches(const void* other) const;
  double worst_error() const { return cuda_tests::worst_error(shape, a, b, wide); }
  /// What a barrier reported, in words; then also the flags that this rank has set, which must equal `launches`. Empty:
  /// nothing is wrong.
  std::string barrier_fault(std::uint32_t launches) const;

  ops::DeviceGemm gemm(ops::Raster raster, int swizzle) const;
  /// The same GEMM by cuBLASLt, into `wide`.
  std::unique_ptr<ops::PreparedKernel> cublaslt() const;
  std::unique_ptr<ops::PreparedKernel> push(const ops::CompiledPush& kernel, ops::Raster raster, int swizzle) const;
  /// The same with other tables or another barrier, to see the checks fail and to time the parts.
  std::unique_ptr<ops::PreparedKernel> push(const ops::CompiledPush& kernel, ops::Raster raster, int swizzle,
                                            const ops::PushMap& map, const ops::EndBarrier& barrier) const;
  ops::PushMap map() const { return ops::push_map(problem, operation.columns, rank); }
  ops::EndBarrier barrier() const;
  std::unique_ptr<ops::PreparedKernel> pack() const, exchange() const, unpack() const;
  /// What the peers would do with this rank's slabs; only for checking pack() and exchange().
  std::unique_ptr<ops::PreparedKernel> unpack_at_peers() const;
  /// GEMM, pack, exchange, unpack.
  std::unique_ptr<ops::PreparedKernel> native() const;
  /// GEMM, pack, and slabs copied straight to their final place: only where a sender's slab is one contiguous piece of
  /// the destination (one kind of head, rows of one run). Null elsewhere.
  std::unique_ptr<ops::PreparedKernel> native_without_unpack() const;

  const ops::Operation& operation;
  core::Problem problem;
  std::int64_t rank;
  ops::GemmShape shape;
  core::HeadLayout heads;
  int sms = 0;

  Memory a, b, wide;                    // [M, K], the weight, [M, W]
  std::vector<Memory> homes, expected;  // [P*3][B*S, local heads * D]
  Memory send, receive;                 // [P][M, slab] of this rank
  std::vector<Memory> peer_slots;       // [P][M, slab]: this rank's slot in each peer's receive buffer
  Memory rows;                          // [P][M]: destination rows
  Memory barrier_words;                 // arrived, epoch, lost, then [P][P] flags

 private:
  /// Rank p unpacks the slab of rank q, which is number `slab` of `slabs`.
  std::vector<ops::HeadPiece> unpack_pieces(std::int64_t p, std::int64_t q, const Memory& slabs,
                                            std::int64_t slab) const;
};

}  // namespace megaup::cuda_tests
