#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <megaup/core/layout.hpp>

/// Where a fused A2A -> GEMM on a GPU finds its A, as small tables that travel in the kernel's parameters.
namespace megaup::ops {

/// Tensors of the heads side: Q, K and V of every rank, in the order rank*3 + kind.
constexpr int kPullKinds = core::kHeadKinds;
/// Rows of one load box of A: they must stay inside one run of rows of the heads.
constexpr std::int64_t kPullTileRows = 128;
/// Columns of one load box of A, one K tile: 64 BF16 are one 128-byte swizzle row. A head must hold whole K tiles.
constexpr std::int64_t kPullTileK = 64;

/// Which shard of K a rank multiplies first. own_first: its own, which it has, then that of rank+1 and on; ranks then
/// read from different peers. rank_zero_first: the same order on all ranks, so that equal rows give equal bits on all of
/// them; to compare with.
enum class ShardOrder : std::uint8_t { own_first, rank_zero_first };

/// The tables. K is multiplied in shards: that of rank `first`, of the next one and on, then, with replicated KV heads, the
/// sums. All shards of ranks consist of the same segments, whose place in the weight depends on the rank.
///
///   row        local row m lies in row m + 128*tile_shift[m/128 / run_tiles] of every rank's heads
///   own shard  read in place: K tile from + i of tensor `source` of this rank
///   staged     the same tile of the copy in staging[source][peer][M, width]
///   sums       K tile i of sums[source][M, D]
///
/// Fixed sizes, because kernel parameters are: 8 ranks are one NVLink host, 64 runs are 32 sequences in dual_chunk
/// order, 192 segments are 64 local KV heads. pull_refusal() says so where they do not suffice.
struct PullMap {
  static constexpr int kMaxRanks = 8;
  static constexpr int kMaxHomes = kMaxRanks * kPullKinds;
  static constexpr int kMaxRuns = 64;
  static constexpr int kMaxSegments = 192;

  /// `count` K tiles, neighbours both in their tensor and in the weight.
  struct Segment {
    std::uint16_t source;  ///< kind of tensor; in the sums which sum
    std::uint16_t from;    ///< first K tile in the tensor
    std::uint16_t weight;  ///< first K tile in the weight, to which weight_shift[source][rank] is added (not for sums)
    std::uint16_t count;
  };

  std::int32_t ranks = 1, rank = 0;
  std::int32_t first = 0;           ///< rank whose shard is multiplied first
  std::int32_t rows = 0;            ///< M
  std::int32_t run_tiles = 1;       ///< tiles of 128 rows in a run of neighbouring rows of the heads
  std::int32_t head_tiles = 1;      ///< D / 64
  std::int32_t sums = 0;            ///< replicated heads that are added: 2*Hk, K and V alternating; else 0
  std::int32_t copies = 1;          ///< ranks that contribute to each sum: sum i has those from i/2*copies on
  std::int32_t shard_segments = 0;  ///< segments of one rank's shard; those of the sums follow
  std::int32_t sum_segments = 0;
  std::array<std::uint16_t, kPullKinds> tiles{};  ///< K tiles of each tensor that are staged: width / 64
  std::array<std::array<std::uint16_t, kMaxRanks>, kPullKinds> weight_shift{};
  std::array<std::int32_t, kMaxRuns> tile_shift{};
  std::array<Segment, kMaxSegments> segments{};

  /// Shards for which a tile waits, its own included.
  constexpr int shards() const { return ranks + (sums > 0 ? 1 : 0); }
};

/// Why this problem cannot be pulled, with the numbers; nothing if it can. Assumes core::refusal(problem) is empty.
core::Reason pull_refusal(const core::Problem& problem, core::Columns columns);

/// The tables of rank r. Precondition: pull_refusal() is empty. Cost: O(heads + runs).
PullMap pull_map(const core::Problem& problem, core::Columns columns, std::int64_t r,
                 ShardOrder order = ShardOrder::own_first);

/// Bytes of the staging buffer of one rank: what its peers' heads are copied to, and the sums.
std::int64_t pull_staging_bytes(const core::Problem& problem, core::Columns columns);
/// 32-bit words of one rank that its peers write: [P] epochs of "my heads are ready", [P] of "I have read yours".
std::int64_t pull_peer_words(const core::Problem& problem);
/// 32-bit words that only this rank uses: 4, then [M/128][P + 1] counters of what has landed.
std::int64_t pull_local_words(const core::Problem& problem);

/// What a nonzero PullFlags::lost says: which rank did not do what in time.
std::string pull_fault(std::uint32_t lost);

}  // namespace megaup::ops
