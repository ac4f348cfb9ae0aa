#pragma once

#include <array>
#include <vector>

#include <megaup/ops/head_runs.hpp>
#include <megaup/ops/host_gemm.hpp>
#include <megaup/ops/operands.hpp>

namespace megaup::ops {

/// Where the tiles of a fused GEMM -> A2A go: each row of a tile is rounded to BF16 straight into its final row and
/// columns of the final rank's tensor, by plain stores into peer memory; a replicated KV head into every copy. There is
/// no wide matrix and no pack buffer.
///
/// Ranks   not collective. Peers may read only after the epoch flag that the arm raises when all tiles are stored.
///
/// Cost    one store of every element, P/Hk stores of replicated ones.
class HeadSink final : public TileSink {
 public:
  explicit HeadSink(const Operands& operands);

  /// Chooses the set of heads that the next tiles go to. No allocation.
  void select(int set) { set_ = static_cast<std::size_t>(set); }
  void store(std::int64_t i0, std::int64_t rows, std::int64_t j0, std::int64_t columns, const float* acc,
             std::int64_t ld) override;

 private:
  std::vector<std::int64_t> rows_;                                   // destination row of each local row
  std::vector<HomeRun> runs_;                                        // in the order of the wide columns
  std::array<std::vector<HeadTensors>, Operands::kHeadSets> peers_;  // [set][rank]
  std::size_t set_ = 0;
};

}  // namespace megaup::ops
