#pragma once

#include <cstdint>
#include <vector>

#include <megaup/core/matrix.hpp>
#include <megaup/ops/head_runs.hpp>
#include <megaup/ops/operands.hpp>

namespace megaup::ops {

/// Local token rows [first, first + count), in slabs that have room for `slab_rows` >= count rows: every chunk of an
/// exchange has the same room, the last may hold fewer rows.
struct RowRange {
  std::int64_t first, count, slab_rows;
};

/// The layout changes on either side of a packed exchange, each in one pass over the data. Slabs are
/// [P][rows.slab_rows][slab_columns()]: block p of a send buffer goes to rank p, block q of a receive buffer came from
/// rank q. The wide matrix holds the rows of `rows` alone: its row 0 is token row rows.first.
///
///   gemm_to_a2a   wide [M, W] --wide_to_slabs--> send     recv --slabs_to_heads--> Q, K, V [B*S, local heads*D]
///   a2a_to_gemm   Q, K, V --heads_to_slabs--> send        recv --slabs_to_wide--> wide [M, W]
///
/// slabs_to_wide adds the copies of a replicated KV head in FP32 in rank order and rounds once.
/// `only` restricts everything to the heads of one kind. Prepared once: run tables are made here, nothing is allocated
/// later. Ranks: not collective, and safe to call from several rank threads at once. Cost: every element is read once
/// and written once.
class Reorder {
 public:
  Reorder(const core::Problem& problem, core::Columns columns, int rank, int threads, OnlyKind only = {});

  std::int64_t slab_columns() const { return slab_columns_; }
  /// Bytes of one slab: what goes to one peer.
  std::int64_t slab_bytes(std::int64_t rows) const { return rows * slab_columns_ * core::kElementBytes; }

  void wide_to_slabs(core::Bf16* slabs, core::ConstBf16Matrix wide, RowRange rows) const;
  void slabs_to_heads(const HeadTensors& heads, const core::Bf16* slabs, RowRange rows) const;
  void heads_to_slabs(core::Bf16* slabs, const HeadTensors& heads, RowRange rows) const;
  void slabs_to_wide(core::Bf16Matrix wide, const core::Bf16* slabs, RowRange rows) const;

 private:
  /// A run of the wide matrix and the peer whose slab it goes to or comes from; in the order of the wide columns.
  struct PeerRun {
    std::int64_t wide, peer, slab, columns;
  };
  /// Columns that several ranks contribute to: the copies of one KV head.
  struct SumRun {
    std::int64_t wide, slab, columns, rank, copies;
  };

  core::TokenLayout tokens_;
  int threads_;
  std::int64_t slab_columns_;
  std::vector<PeerRun> to_peers_;    // a replicated head goes to several
  std::vector<PeerRun> from_peers_;  // without columns that are added
  std::vector<SumRun> sums_;
  std::vector<TensorRun> tensor_runs_;
};

}  // namespace megaup::ops
