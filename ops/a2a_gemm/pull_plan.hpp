#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <megaup/core/error.hpp>
#include <megaup/ops/gemm_a2a/push_plan.hpp>
#include <megaup/ops/kernel_wish.hpp>
#include <megaup/ops/operation.hpp>

/// Chooses the kernel of a fused A2A -> GEMM on a GPU, and how its data travel. Pure: no device is asked, so it
/// is tested where there is none.
namespace megaup::ops {

/// One compiled kernel, for both orientations of the weight. Tiles of one block are tile_m x tile_n x 64; tiles are handed out along
/// N, so that few rows of A are wanted at a time.
struct PullKernel {
  std::string_view name;
  Schedule schedule;
  std::int64_t tile_m, tile_n;
  std::int64_t cluster_m, cluster_n;
  double sustained, spaced;   ///< rate on whole waves, 1 = cuBLASLt's, data movement included. Measured.
  double fixed_microseconds;  ///< filling the pipeline, waiting for the first rows, storing the last tile
  Architecture architecture = Architecture::sm_90a;

  /// As PushKernel::measured().
  constexpr bool measured() const { return sustained > 0; }
};
std::span<const PullKernel> pull_kernels();
/// The orders of tiles that the planner tries, with every kernel; all of them along N.
std::span<const TileOrder> pull_orders();

/// How the peers' heads travel to the staging buffer: in order of groups of rows, then peers, then blocks of rows, in
/// units that are dealt round robin to the movers, one warp in every block of threads.
struct PullMoves {
  std::int64_t block_rows;        ///< rows that have one flag for each peer: 128 or 256
  std::int64_t group_rows;        ///< rows that one wave of tiles touches; a multiple of block_rows
  std::int64_t first_unit, unit;  ///< bytes of a unit in the first group, for which tiles wait, and after it
};

struct PullCandidate {
  const PullKernel* kernel = nullptr;
  std::string_view order;  ///< its name; swizzle is what it says
  int swizzle = 1;
  PullMoves moves{};
  std::int64_t tiles = 0;      ///< computed tiles, with those that only round the grid up
  double waves = 0;            ///< tiles over SMs
  double microseconds = 0;     ///< predicted time; an order among candidates, not a promise. 0: kernel not measured
  core::Reason rejected = {};  ///< why it was not chosen
};

struct PullPlan {
  GemmShape shape;
  DeviceSetting device;
  KernelWish wish = {};
  std::vector<PullCandidate> candidates;  ///< every one that was looked at; exactly one has no reason, unless `refused`
  core::Reason refused = {};              ///< why no kernel can run this shape, or none that was asked for

  /// Precondition: not refused.
  const PullCandidate& chosen() const;
};

/// The fastest predicted candidate of those that are for the architecture and fit the wish; where no rates are measured,
/// that with the fewest waves. run_rows: length of the runs of neighbouring rows in the
/// heads (core::TokenLayout::run_rows()). Cost: microseconds. Units: shape in elements.
PullPlan plan_pull(const GemmShape& shape, std::int64_t run_rows, const DeviceSetting& device,
                   const KernelWish& wish = {});
/// The plan as a table: one line a candidate, with its cost and the reason why it was rejected.
std::string text(const PullPlan& plan);

}  // namespace megaup::ops
