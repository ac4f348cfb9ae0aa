#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <device_data_cuda.cuh>
#include <megaup/ops/a2a_gemm/pull_gemm_cuda.cuh>
#include <megaup/ops/operation.hpp>

/// Ranks of an A2A -> GEMM on one device (emulated): the heads and flags of a group, and one rank's buffers, oracle and
/// kernels over them.
namespace megaup::cuda_tests {

/// What all ranks of a group share.
struct PullWorld {
  /// `elsewhere`: the device that holds the heads of all ranks but 0, if it is not the current one. Flags are here.
  PullWorld(const ops::Operation& operation, const core::Problem& problem, int elsewhere = 0);

  /// Uniform BF16 in [-1, 1) in all heads.
  void randomise(std::uint64_t seed) const;
  /// The same, but everything that is not of `rank`'s tokens is poison: what it must not read shows.
  void randomise_for(std::int64_t rank, std::uint64_t seed) const;
  void reset_flags() const;
  /// The peers of a solo rank have always arrived, half of the range ahead.
  void assume_arrived(std::int64_t rank) const;

  const ops::Operation& operation;
  core::Problem problem;
  core::HeadLayout heads;
  int elsewhere;
  std::vector<Memory> tensors;     // [P*3][B*S, local heads * D]
  std::vector<Memory> peer_words;  // [P]
};

/// One rank.
struct PullCase {
  PullCase(const PullWorld& world, std::int64_t rank, ops::ShardOrder shards = ops::ShardOrder::own_first);

  void randomise_weight(std::uint64_t seed) const;  ///< uniform in [-1/8, 1/8)
  void poison() const;                              ///< C and the staging buffer
  /// The oracle's A, gathered one element a thread by core/layout.hpp: in the weight's order into `wide`, and in the
  /// order in which the kernel takes K into `ordered_a`, with the weight in the same order in `ordered_weight`.
  void gather() const;
  /// `expected` = the plain GEMM of the same kernel over the ordered matrices: the same sums in the same order.
  void compute_expected(const ops::CompiledPull& kernel, int swizzle) const;
  std::int64_t mismatches() const;  ///< elements of C that differ in their bits from `expected`
  /// Against FP64 from `wide` and the weight in their own order.
  double worst_error() const { return cuda_tests::worst_error(shape, wide, weight, c); }
  /// Nothing, or what is wrong with the flags after so many launches since reset_flags().
  std::string fault(std::uint32_t launches) const;
  void reset_local() const { local_words.fill(0); }

  ops::PullGemm gemm(int swizzle) const;
  ops::PullHeads pull_heads() const;
  ops::PullFlags flags() const;
  ops::PullMap map() const { return ops::pull_map(world.problem, world.operation.columns, rank, shards); }
  ops::PullPlan plan(ops::Regime regime) const;

  const PullWorld& world;
  std::int64_t rank;
  ops::ShardOrder shards;
  ops::GemmShape shape;
  int sms = 0;
  Memory weight, c, staging, local_words;
  Memory wide, ordered_a, ordered_weight, expected, order;
};

}  // namespace megaup::cuda_tests
