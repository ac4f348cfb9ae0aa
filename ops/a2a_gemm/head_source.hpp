#pragma once

#include <functional>
#include <vector>

#include <megaup/core/buffer.hpp>
#include <megaup/ops/head_runs.hpp>
#include <megaup/ops/host_gemm.hpp>
#include <megaup/ops/operands.hpp>

namespace megaup::ops {

/// The A of a fused A2A -> GEMM, read where it lies: in the heads of its rank, by plain loads from peer memory. There
/// is no send buffer, no receive buffer and no wide matrix.
///
/// Shard 0 is this rank's own part, shard 1 that of rank+1, and so on, so that multiplying starts while peers are still
/// on their way. With replicated KV heads the K and V columns, to which several ranks contribute, are one more shard at
/// the end: added in FP32 in rank order and rounded once into a staging buffer [M, 2*Hk*D] when all have come. The
/// order of K therefore differs from rank to rank, and results from the native arms' in the last bits; on one rank they
/// are the same from run to run.
class HeadSource final : public RowSource {
 public:
  /// `ready(rank)` returns when the heads of that rank may be read.
  HeadSource(const Operands& operands, std::function<void(int)> ready);

  /// Columns of each shard, for the GEMM's prepare.
  static std::vector<std::int64_t> shard_columns(const Operation& op, const core::Problem& problem);
  static std::int64_t staging_bytes(const Operation& op, const core::Problem& problem);

  int shards() const override { return static_cast<int>(shards_.size()); }
  std::span<const Segment> segments(int shard) const override {
    return shards_[static_cast<std::size_t>(shard)].segments;
  }
  void wait(int shard) override;
  const core::Bf16* row(int shard, int segment, std::int64_t i) const override;

  void poison();

 private:
  /// Where a segment's rows are: row i is base + rows_[i]*ld in a peer's tensor, or base + i*ld in the staging buffer.
  struct Place {
    const core::Bf16* base;
    std::int64_t ld;
  };
  struct Shard {
    std::vector<Segment> segments;
    std::vector<Place> places;
    int peer;  ///< or kSums
  };
  static constexpr int kSums = -1;
  /// The ranks' tensors of one replicated head, in rank order, and where their sum goes.
  struct Sum {
    std::vector<Place> copies;
    core::Bf16* to;
    std::int64_t columns;
  };

  static Place place(const Operands& operands, const HomeRun& run, int rank);
  void add_sum_shard(const Operands& operands);
  void add_replicas();

  int P_;
  std::function<void(int)> ready_;
  std::vector<std::int64_t> rows_;  // destination row of each local row
  core::Buffer staging_;
  std::vector<Shard> shards_;
  std::int64_t staging_ld_ = 0;
  std::vector<Sum> sums_;
};

}  // namespace megaup::ops
