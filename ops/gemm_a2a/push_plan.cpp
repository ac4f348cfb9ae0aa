#include <megaup/ops/gemm_a2a/push_plan.hpp>

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include <megaup/ops/gemm_a2a/push_map.hpp>

namespace megaup::ops {

namespace {

constexpr std::int64_t kClusterBlocks = 2;
constexpr std::int64_t kTileK = 64;
/// Bulk tensor loads start rows at multiples of 16 bytes.
constexpr std::int64_t kAlignment = 8;

// BF16 rates of an H200 on random data in TFLOP/s, at its power cap and below it, and the time that a launch takes
// beside its tiles: filling the pipeline, storing the last tile, the end barrier. Fitted to every kernel and order of two
// H200 over NVLink at 2048 to 8192 rows (docs/benchmarks.md); only the order of the candidates depends on them.
constexpr double kSustainedTeraflops = 670;
constexpr double kSpacedTeraflops = 800;
constexpr double kFixedMicroseconds = 9;
/// How much of the last wave's idle time is lost; the rest comes back as power for the others, or as memory that the next
/// wave does not wait for.
constexpr double kLastWaveLoss = 0.75;

// At the cap ping-pong kernels come first although they draw more power: a cooperative one waits while its tile goes to
// the peers. Taking turns with other arms they are 2 to 6 % faster, each alone on the device 1 to 4 % slower.
// "c": cooperative, "pp": ping-pong. Tried and not kept, for they won no shape: cooperative 256x128 in clusters of 2x1
// and 1x2, cooperative 128x256 in clusters of 1x2 (up to a third slower), cooperative 256x192 in clusters of 2x1.
// "2sm": the tensor cores of two SMs, which multiply 256x256; not measured, for want of a device.
constexpr PushKernel kKernels[] = {
    {"c128x256", Schedule::cooperative, 128, 256, 2, 1, 1.00, 1.00, 0.975},
    {"c256x192", Schedule::cooperative, 256, 192, 1, 2, 0.99, 1.03, 1.02},
    {"pp128x192", Schedule::ping_pong, 128, 192, 2, 1, 1.026, 1.02, 0.95},
    {"pp128x128", Schedule::ping_pong, 128, 128, 2, 1, 1.018, 0.986, 0.88},
    {"c128x256_plain", Schedule::cooperative, 128, 256, 2, 1, 1.00, 1.00, 0.975, Store::plain},
    {"pp128x192_plain", Schedule::ping_pong, 128, 192, 2, 1, 1.026, 1.02, 0.95, Store::plain},
    {"2sm256x256", Schedule::paired, 128, 256, 2, 1, 0, 0, 0, Store::bulk, Architecture::sm_100a},
};

static_assert(std::ranges::none_of(kKernels,
                                   [](const PushKernel& kernel) {
                                     return kernel.schedule == Schedule::paired && kernel.measured();
                                   }),
              "order_loss() has no row for paired kernels");

/// Blocks drift apart along a long k and share less in the cache, small tiles first: linear between the two measured
/// ends.
double spaced_rate(const PushKernel& kernel, std::int64_t k) {
  constexpr double kShort = 4096, kLong = 16384;
  const double along = (std::clamp(static_cast<double>(k), kShort, kLong) - kShort) / (kLong - kShort);
  return kernel.spaced + along * (kernel.spaced_long - kernel.spaced);
}

constexpr TileOrder kOrders[] = {
    {"N8", Raster::along_n, 8}, {"N4", Raster::along_n, 4}, {"N2", Raster::along_n, 2}, {"N1", Raster::along_n, 1},
    {"M8", Raster::along_m, 8}, {"M4", Raster::along_m, 4}, {"M2", Raster::along_m, 2}, {"M1", Raster::along_m, 1},
    {"S4", Raster::spread, 4},  {"S2", Raster::spread, 2},  {"S1", Raster::spread, 1},
};

std::int64_t rounded_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

/// The swizzle that the tile scheduler really uses: it falls back to a smaller one on narrow grids.
int effective_swizzle(int asked, std::int64_t tiles_m, std::int64_t tiles_n) {
  const std::int64_t narrow = std::min(tiles_m, tiles_n);
  if (asked >= 8 && narrow >= 6) return 8;
  if (asked >= 4 && narrow >= 3) return 4;
  if (asked >= 2 && narrow >= 2) return 2;
  return 1;
}

using LossBySwizzle = double[4];  // of 1, 2, 4, 8

/// Time lost to an order of tiles, as a factor. Two things pull apart. Wide bands of tiles (a large swizzle) find what they
/// read in the cache, which at the power cap is energy and so clock. But neighbouring columns are heads of one rank: in a
/// wide band all multiprocessors store to the same peer at a time, and then to none, where narrow bands spread the link's
/// work over the GEMM. Over a link the second counts more; a ping-pong kernel, which computes while it stores, feels it
/// least. Spread orders do not round the grid up, which is where they can win.
double order_loss(const DeviceSetting& device, const PushKernel& kernel, Raster raster, int swizzle) {
  constexpr LossBySwizzle kSustained = {0.04, 0.035, 0.01, 0}, kSpaced = {0.04, 0.03, 0.01, 0};
  constexpr LossBySwizzle kLinkedSustained[] = {{0.006, 0.008, 0.02, 0.045}, {0.004, 0.001, 0.006, 0.01}};
  constexpr LossBySwizzle kLinkedSpaced[] = {{0, 0.002, 0.005, 0.022}, {0.02, 0.009, 0.002, 0.006}};
  constexpr LossBySwizzle kSpreadSustained[] = {{0.025, 0.025, 0.021, 0}, {0.023, 0.017, 0.013, 0}};
  constexpr LossBySwizzle kSpreadSpaced[] = {{0.02, 0.02, 0.007, 0}, {0.042, 0.029, 0.004, 0}};
  const bool spaced = device.regime == Regime::spaced;
  const auto schedule = static_cast<std::size_t>(kernel.schedule);
  const int step = std::countr_zero(static_cast<unsigned>(swizzle));
  const bool along_m = raster == Raster::along_m, spread = raster == Raster::spread;
  if (device.peers == Peers::linked && spread) return 1 + (spaced ? kSpreadSpaced : kSpreadSustained)[schedule][step];
  if (device.peers == Peers::linked)
    return 1 + (spaced ? kLinkedSpaced : kLinkedSustained)[schedule][step] + (along_m ? 0.03 : 0);
  return 1 + (spaced ? kSpaced : kSustained)[step] + (along_m ? (spaced ? 0.005 : 0.002) : spread ? 0.01 : 0);
}

PushCandidate costed(const PushKernel& kernel, const TileOrder& order, const PushPlan& plan) {
  const std::int64_t tiles_m = rounded_up(rounded_up(plan.shape.m, kernel.tile_m) / kernel.tile_m, kernel.cluster_m);
  const std::int64_t tiles_n = rounded_up(rounded_up(plan.shape.n, kernel.tile_n) / kernel.tile_n, kernel.cluster_n);
  PushCandidate candidate{.kernel = &kernel,
                          .order = order.name,
                          .raster = order.raster,
                          .swizzle = effective_swizzle(order.swizzle, tiles_m, tiles_n)};
  const std::int64_t even = order.raster == Raster::spread ? 1 : candidate.swizzle;  // its last band may be narrower
  candidate.tiles = rounded_up(tiles_m, even * kernel.cluster_m) * rounded_up(tiles_n, even * kernel.cluster_n);
  candidate.waves = static_cast<double>(candidate.tiles) / static_cast<double>(plan.device.sms);
  if (!kernel.measured()) return candidate;
  const double tile_flop = 2.0 * static_cast<double>(kernel.tile_m * kernel.tile_n) * static_cast<double>(plan.shape.k);
  const auto whole = static_cast<double>(rounded_up(candidate.tiles, plan.device.sms) / plan.device.sms);
  const double waves = candidate.waves + kLastWaveLoss * (whole - candidate.waves);
  const double teraflops = plan.device.regime == Regime::sustained
                               ? kSustainedTeraflops * kernel.sustained
                               : kSpacedTeraflops * spaced_rate(kernel, plan.shape.k);
  candidate.microseconds = kFixedMicroseconds + waves * static_cast<double>(plan.device.sms) * tile_flop /
                                                    (teraflops * 1e6) *
                                                    order_loss(plan.device, kernel, order.raster, candidate.swizzle);
  return candidate;
}

core::Reason unsound(const GemmShape& shape, std::int64_t sms) {
  if (shape.m <= 0 || shape.n <= 0 || shape.k <= 0)
    return fmt::format("GEMM {} x {} x {}: every size must be positive", shape.m, shape.n, shape.k);
  if (sms < kClusterBlocks) return fmt::format("{} SMs: a cluster needs {}", sms, kClusterBlocks);
  if (shape.k % kAlignment != 0)
    return fmt::format("rows of k = {} elements do not start at 16-byte addresses", shape.k);
  if (shape.n % kPushBoxColumns != 0)
    return fmt::format("n = {} is not a multiple of the store box's {} columns", shape.n, kPushBoxColumns);
  if (shape.k < kTileK) return fmt::format("k = {} is less than one tile of {}", shape.k, kTileK);
  return {};
}

}  // namespace

std::string_view name(Schedule value) {
  if (value == Schedule::paired) return "paired";
  return value == Schedule::cooperative ? "cooperative" : "ping-pong";
}

std::span<const PushKernel> push_kernels() { return kKernels; }
std::span<const TileOrder> push_orders() { return kOrders; }

const PushCandidate& PushPlan::chosen() const {
  return *std::ranges::find_if(candidates, [](const PushCandidate& candidate) { return !candidate.rejected; });
}

PushPlan plan_push(const GemmShape& shape, const DeviceSetting& device, const KernelWish& wish) {
  PushPlan plan{.shape = shape, .device = device, .wish = wish};
  plan.refused = unsound(shape, device.sms);
  if (!plan.refused) plan.refused = foreign(places(push_kernels()), wish, device.architecture);
  if (plan.refused) return plan;
  for (const PushKernel& kernel : kKernels) {
    if (kernel.architecture != device.architecture) continue;
    if (kernel.store == Store::plain && wish.kernel != kernel.name) continue;
    for (const TileOrder& order : kOrders) {
      const PushCandidate candidate = costed(kernel, order, plan);
      if (candidate.swizzle == order.swizzle) plan.candidates.push_back(candidate);
    }
  }
  choose(plan);
  return plan;
}

std::string text(const PushPlan& plan) {
  std::string out = fmt::format("push {} x {} x {} {} on {}: {}\n", plan.shape.m, plan.shape.n, plan.shape.k,
                                plan.shape.weight_transposed ? "TN" : "NN", text(plan.device), text(plan.wish));
  if (plan.device.architecture != Architecture::sm_90a)
    out += fmt::format("  {}: {}\n", name(plan.device.architecture), evidence(plan.device.architecture));
  for (const PushCandidate& candidate : plan.candidates) {
    out += fmt::format("  {:<18} {:>6} tiles {:>7.2f} waves {:>9} us  {}\n",
                       fmt::format("{}/{}", candidate.kernel->name, candidate.order), candidate.tiles, candidate.waves,
                       predicted(candidate.kernel->measured(), candidate.microseconds),
                       candidate.rejected ? *candidate.rejected : "CHOSEN");
  }
  if (plan.refused) out += fmt::format("  refused: {}\n", *plan.refused);
  return out;
}

}  // namespace megaup::ops
