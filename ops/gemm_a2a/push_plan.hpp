#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <megaup/core/error.hpp>
#include <megaup/ops/fused_kernels.hpp>
#include <megaup/ops/kernel_wish.hpp>
#include <megaup/ops/operation.hpp>
#include <megaup/ops/regime.hpp>

/// Chooses the kernel of a fused GEMM -> A2A on a GPU. Pure: no device is asked, so it is tested where there is none.
namespace megaup::ops {

/// On Hopper: cooperative: two warpgroups share one tile; ping-pong: each has its own, and one computes while the other
/// stores. On Blackwell: paired: two neighbouring SMs multiply one tile, of which each stores its half of the rows while
/// the next one is multiplied.
enum class Schedule : std::uint8_t { cooperative, ping_pong, paired };
std::string_view name(Schedule value);
/// How a tile leaves shared memory: by the bulk engine, or by stores of 16 bytes a thread of the warp that would tell it.
enum class Store : std::uint8_t { bulk, plain };

/// One compiled kernel, for both orientations of the weight. Tiles of one block are tile_m x tile_n x 64; a cluster of
/// blocks shares its loads.
struct PushKernel {
  std::string_view name;
  Schedule schedule;
  std::int64_t tile_m, tile_n;
  std::int64_t cluster_m, cluster_n;
  /// Relative rate on whole waves, near 1 = cuBLASLt's, so that the order of the measured cells comes out
  /// (docs/benchmarks.md): sustained; spaced with k up to 4096, and with k of 16384 and above.
  double sustained, spaced, spaced_long;
  Store store = Store::bulk;  ///< plain: to compare with; a candidate only where the wish names it
  Architecture architecture = Architecture::sm_90a;

  /// False where its rates are 0, for want of a device: then plans are made by waves of tiles.
  constexpr bool measured() const { return sustained > 0; }
};
std::span<const PushKernel> push_kernels();
/// The orders of tiles that the planner tries, with every kernel.
std::span<const TileOrder> push_orders();

struct PushCandidate {
  const PushKernel* kernel = nullptr;
  std::string_view order;  ///< its name; raster and swizzle are what it says
  Raster raster = Raster::along_n;
  int swizzle = 1;
  std::int64_t tiles =
      0;  ///< computed tiles, with those that only round the grid up to the swizzle and the cluster: the store drops
          ///< what lies beyond the matrix, so a tile need not divide it
  double waves = 0;            ///< tiles over SMs
  double microseconds = 0;     ///< predicted time; an order among candidates, not a promise. 0: kernel not measured
  core::Reason rejected = {};  ///< why it was not chosen
};

struct PushPlan {
  GemmShape shape;
  DeviceSetting device;
  KernelWish wish = {};
  std::vector<PushCandidate> candidates;  ///< every one that was looked at; exactly one has no reason, unless `refused`
  core::Reason refused = {};              ///< why no kernel can run this shape, or none that was asked for

  /// Precondition: not refused.
  const PushCandidate& chosen() const;
};

/// The fastest predicted candidate of those that are for the architecture and fit the wish; where no rates are measured,
/// that with the fewest waves. Cost: microseconds. Units: shape in elements.
PushPlan plan_push(const GemmShape& shape, const DeviceSetting& device, const KernelWish& wish = {});
/// The plan as a table: one line a candidate, with its cost and the reason why it was rejected.
std::string text(const PushPlan& plan);

}  // namespace megaup::ops
