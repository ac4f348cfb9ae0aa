#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <megaup/core/layout.hpp>

/// Where a fused GEMM -> A2A on a GPU stores its tiles, as two small tables that travel in the kernel's parameters.
namespace megaup::ops {

/// Tensors of the heads side: Q, K and V of every rank, in the order rank*3 + kind.
constexpr int kPushKinds = core::kHeadKinds;

/// The tables. Column j of the wide matrix [M, W] belongs to head j / D; row m belongs to run m / run_rows.
///   destination tensor  heads[j / D].home (and `copies` - 1 further ranks, kPushKinds apart, for a replicated KV head)
///   destination column  heads[j / D].local * D + j % D
///   destination row     m + row_shift[m / run_rows]
/// Fixed sizes, because kernel parameters are: 8 ranks are one NVLink host, 512 heads hold every published model (the
/// widest is 3 * 96), 64 runs are 32 sequences in dual_chunk order. push_refusal() says so where they do not suffice.
struct PushMap {
  static constexpr int kMaxRanks = 8;
  static constexpr int kMaxHomes = kMaxRanks * kPushKinds;
  static constexpr int kMaxHeads = 512;
  static constexpr int kMaxRuns = 64;

  struct Head {
    std::uint8_t home;    ///< rank*3 + kind of the first holder
    std::uint8_t copies;  ///< ranks that hold it
    std::uint16_t local;  ///< index in the holder's tensor
  };

  std::int32_t ranks = 1, rank = 0;
  std::int32_t rows = 0;      ///< M
  std::int32_t columns = 0;   ///< W = heads*D
  std::int32_t features = 1;  ///< D
  std::int32_t run_rows = 1;
  std::array<Head, kMaxHeads> heads{};
  std::array<std::int32_t, kMaxRuns> row_shift{};
};

/// Rows of one store box: a tile of this many rows must stay inside one run of destination rows, because a box is
/// stored whole.
constexpr std::int64_t kPushBoxRows = 128;
/// Columns of one store box: 64 BF16 are the 128 bytes that a bulk tensor store writes in one row; a head must hold
/// whole boxes.
constexpr std::int64_t kPushBoxColumns = 64;

/// Why this problem cannot be pushed, with the numbers; nothing if it can. Assumes core::refusal(problem) is empty.
core::Reason push_refusal(const core::Problem& problem, core::Columns columns);

/// The tables of rank r. Precondition: push_refusal() is empty. Cost: O(heads + runs).
PushMap push_map(const core::Problem& problem, core::Columns columns, std::int64_t r);

}  // namespace megaup::ops
