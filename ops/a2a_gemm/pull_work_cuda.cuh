#pragma once

#include <algorithm>
#include <cstdint>

#include <cutlass/fast_math.h>

#include <megaup/ops/a2a_gemm/pull_gemm_cuda.cuh>

/// What the two idle warps of a block know: one copies the peers' heads (the mover), one watches what has
/// landed (the poller).
namespace megaup::ops {

/// Unit of counting: every unit that is moved is a multiple of it.
constexpr std::uint32_t kPullQuantum = 2048;
/// Shared memory through which a mover copies; the largest piece that is under way at a time.
constexpr std::uint32_t kPullSlotBytes = 16384;

/// Words in shared memory of one block of threads.
struct PullShared {
  alignas(128) char slot[kPullSlotBytes];
  alignas(16) std::uint64_t loaded;  ///< mbarrier: the pieces of the slot have come
  std::uint32_t steps;               ///< shards of this block's tiles that may be loaded, counted over all its tiles
};

/// Units of some groups of rows, in the order group, peer, block, unit; after the peers of a group its sums.
struct PullPass {
  std::uint32_t first_block, units, unit_bytes;
  std::uint32_t peers_units[2];       // of all peers in a group: whole, last
  cutlass::FastDivmod group_units;    // of a whole group
  cutlass::FastDivmod peer_units[2];  // of one peer in a group: whole, last
  cutlass::FastDivmod block_units;    // of one peer in a block
  cutlass::FastDivmod sum_units;      // of the sums of a block
};

struct PullWork {
  const char* heads[PullMap::kMaxHomes];
  char* staging[kPullKinds + 1];  // Q, K, V: [P][M, width]; sums: [sums][M, D]
  PullFlags flags;
  PullPass passes[2];  // the first group, and all others
  std::int32_t ranks, rank, first, shards;
  std::int32_t rows, row_tiles, block_shift;  // tiles of a block: 1 << block_shift
  std::uint32_t blocks, group_blocks;
  std::uint32_t row_bytes[kPullKinds];      // of one rank's tensor
  std::uint32_t block_ends[kPullKinds];     // of Q, K and V in the bytes of a block of one peer
  std::uint32_t shard_quanta, sums_quanta;  // of one block
  std::uint32_t copies, sum_piece;          // contributions to a sum, and bytes of it that are added at a time
  cutlass::FastDivmod run_tiles, sum_units_each;
  std::int32_t tile_shift[PullMap::kMaxRuns];
};

inline PullPass pull_pass(const PullWork& work, std::uint32_t first_block, std::uint32_t end_block,
                          std::int64_t unit_bytes) {
  const std::uint32_t block_rows = static_cast<std::uint32_t>(kPullTileRows) << work.block_shift;
  const std::uint32_t blocks = end_block - first_block, peers = static_cast<std::uint32_t>(work.ranks - 1);
  const std::uint32_t unit = std::min(static_cast<std::uint32_t>(unit_bytes), block_rows * 128u);
  const std::uint32_t of_block = work.shard_quanta * kPullQuantum / unit;
  const std::uint32_t of_sums = work.sums_quanta == 0 ? 0 : work.sums_quanta * kPullQuantum / work.sum_piece;
  const std::uint32_t whole = std::min(work.group_blocks, blocks);
  const std::uint32_t last = whole == 0 || blocks % whole == 0 ? whole : blocks % whole;
  const auto divisor = [](std::uint32_t n) { return cutlass::FastDivmod(static_cast<int>(std::max(n, 1u))); };
  PullPass pass{};
  pass.first_block = first_block;
  pass.units = blocks * (peers * of_block + of_sums);
  pass.unit_bytes = unit;
  pass.peers_units[0] = peers * whole * of_block;
  pass.peers_units[1] = peers * last * of_block;
  pass.group_units = divisor(whole * (peers * of_block + of_sums));
  pass.peer_units[0] = divisor(whole * of_block);
  pass.peer_units[1] = divisor(last * of_block);
  pass.block_units = divisor(of_block);
  pass.sum_units = divisor(of_sums);
  return pass;
}

inline PullWork pull_work(const PullMap& map, const PullMoves& moves, const PullHeads& heads, const PullFlags& flags) {
  PullWork work{};
  work.flags = flags;
  work.ranks = map.ranks;
  work.rank = map.rank;
  work.first = map.first;
  work.shards = map.shards();
  work.rows = map.rows;
  work.row_tiles = static_cast<std::int32_t>(map.rows / kPullTileRows);
  work.block_shift = moves.block_rows == 2 * kPullTileRows ? 1 : 0;
  const auto block_rows = static_cast<std::uint32_t>(moves.block_rows);
  work.blocks = static_cast<std::uint32_t>(map.rows) / block_rows;
  work.group_blocks = static_cast<std::uint32_t>(moves.group_rows) / block_rows;
  for (int home = 0; home < PullMap::kMaxHomes; ++home) work.heads[home] = static_cast<const char*>(heads.base[home]);
  auto* staging = static_cast<char*>(heads.staging);
  std::uint32_t end = 0;
  for (int kind = 0; kind < kPullKinds; ++kind) {
    const std::uint32_t tiles = map.tiles[static_cast<std::size_t>(kind)];
    work.row_bytes[kind] = static_cast<std::uint32_t>(heads.widths[kind] * 2);
    end += block_rows * tiles * 128;
    work.block_ends[kind] = end;
    work.staging[kind] = staging;
    staging += std::int64_t{map.ranks} * map.rows * tiles * 128;
  }
  work.staging[kPullKinds] = staging;
  work.shard_quanta = end / kPullQuantum;
  work.copies = static_cast<std::uint32_t>(map.copies);
  std::uint32_t slots = 1;  // sums: the copies lie side by side in the slot
  while (slots < work.copies) slots *= 2;
  work.sum_piece = kPullSlotBytes / slots;
  const std::uint32_t sum_bytes = block_rows * static_cast<std::uint32_t>(map.head_tiles) * 128;
  work.sums_quanta = static_cast<std::uint32_t>(map.sums) * (sum_bytes / kPullQuantum);
  work.sum_units_each = cutlass::FastDivmod(static_cast<int>(sum_bytes / work.sum_piece));
  work.run_tiles = cutlass::FastDivmod(map.run_tiles);
  for (int run = 0; run < PullMap::kMaxRuns; ++run)
    work.tile_shift[run] = map.tile_shift[static_cast<std::size_t>(run)];
  const std::uint32_t first = std::min(work.group_blocks, work.blocks);
  work.passes[0] = pull_pass(work, 0, first, moves.first_unit);
  work.passes[1] = pull_pass(work, first, work.blocks, moves.unit);
  return work;
}

}  // namespace megaup::ops
