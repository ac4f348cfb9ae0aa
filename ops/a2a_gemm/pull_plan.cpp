#include <megaup/ops/a2a_gemm/pull_plan.hpp>

#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/ops/a2a_gemm/pull_map.hpp>

namespace megaup::ops {

namespace {

constexpr std::int64_t kClusterBlocks = 2;
/// Bulk tensor loads start rows at multiples of 16 bytes.
constexpr std::int64_t kAlignment = 8;

// BF16 rates of an H200 on random data in TFLOP/s, at its power cap and below it, and the time that a launch takes
// beside its tiles. Measured, those at the cap with each kernel alone on the device for a while: taking turns with others
// they share one clock, which hides what each costs in power. Only the order of the candidates depends on them.
constexpr double kSustainedTeraflops = 670;
constexpr double kSpacedTeraflops = 800;

// "c": cooperative, "pp": ping-pong, which waits longer for its first rows because its waves are shorter. "2sm": the tensor
// cores of two SMs, which multiply 256x256; not measured, for want of a device.
constexpr PullKernel kKernels[] = {
    {"c128x256", Schedule::cooperative, 128, 256, 2, 1, 1.00, 0.995, 10},
    {"c256x192", Schedule::cooperative, 256, 192, 1, 2, 0.985, 1.03, 10},
    {"pp128x192", Schedule::ping_pong, 128, 192, 2, 1, 0.99, 0.99, 16},
    {"pp128x128", Schedule::ping_pong, 128, 128, 2, 1, 0.94, 0.95, 16},
    {"2sm256x256", Schedule::paired, 128, 256, 2, 1, 0, 0, 0, Architecture::sm_100a},
};

constexpr TileOrder kOrders[] = {{"N4", Raster::along_n, 4}, {"N2", Raster::along_n, 2}, {"N1", Raster::along_n, 1}};

/// Bytes of a unit. Small ones where tiles wait for the first rows, large ones after, because every unit costs the GEMM
/// a little.
constexpr std::int64_t kFirstUnit = 8192, kUnit = 32768;

std::int64_t rounded_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

/// The swizzle that the tile scheduler really uses: it falls back to a smaller one on narrow grids.
int effective_swizzle(int asked, std::int64_t tiles_m, std::int64_t tiles_n) {
  const std::int64_t narrow = std::min(tiles_m, tiles_n);
  if (asked >= 4 && narrow >= 3) return 4;
  if (asked >= 2 && narrow >= 2) return 2;
  return 1;
}

/// Rows that one wave of tiles touches, handed out along N, `swizzle` clusters of rows together.
std::int64_t wave_rows(const PullKernel& kernel, int swizzle, std::int64_t tiles_n, std::int64_t sms) {
  const std::int64_t band = swizzle * kernel.cluster_m * kernel.tile_m;
  const std::int64_t tiles_of_band = swizzle * kernel.cluster_m * tiles_n;
  return rounded_up(sms, tiles_of_band) / tiles_of_band * band;
}

/// Time lost to reads that a better order would have found in the cache, as a factor: wide matrices want more rows
/// together, and many rows hide that a wave waits for more of them.
double locality_loss(Regime regime, int swizzle, const GemmShape& shape) {
  constexpr std::int64_t kWideColumns = 8192, kManyRows = 8192;
  constexpr double kSustainedWide[] = {0.02, 0.004, 0}, kSpacedWide[] = {0.055, 0.025, 0};  // swizzle 1, 2, 4
  constexpr double kSustainedTall[] = {0.004, 0, 0.01}, kSustainedSmall[] = {0.001, 0, 0.004};
  constexpr double kSpacedNarrow[] = {0.001, 0, 0.01};
  const int step = std::countr_zero(static_cast<unsigned>(swizzle));
  const bool wide = shape.n >= kWideColumns;
  if (regime == Regime::spaced) return 1 + (wide ? kSpacedWide : kSpacedNarrow)[step];
  if (wide) return 1 + kSustainedWide[step];
  return 1 + (shape.m >= kManyRows ? kSustainedTall : kSustainedSmall)[step];
}

PullCandidate costed(const PullKernel& kernel, const TileOrder& order, std::int64_t run_rows, const PullPlan& plan) {
  const std::int64_t tiles_m = rounded_up(rounded_up(plan.shape.m, kernel.tile_m) / kernel.tile_m, kernel.cluster_m);
  const std::int64_t tiles_n = rounded_up(rounded_up(plan.shape.n, kernel.tile_n) / kernel.tile_n, kernel.cluster_n);
  PullCandidate candidate{
      .kernel = &kernel, .order = order.name, .swizzle = effective_swizzle(order.swizzle, tiles_m, tiles_n)};
  candidate.tiles = rounded_up(tiles_m, candidate.swizzle * kernel.cluster_m) *
                    rounded_up(tiles_n, candidate.swizzle * kernel.cluster_n);
  candidate.waves = static_cast<double>(candidate.tiles) / static_cast<double>(plan.device.sms);
  candidate.moves.block_rows = run_rows % (2 * kPullTileRows) == 0 ? 2 * kPullTileRows : kPullTileRows;
  candidate.moves.group_rows =
      rounded_up(wave_rows(kernel, candidate.swizzle, tiles_n, plan.device.sms), candidate.moves.block_rows);
  candidate.moves.first_unit = kFirstUnit;
  candidate.moves.unit = std::min(kUnit, candidate.moves.block_rows * kPullTileK * core::kElementBytes);
  if (!kernel.measured()) return candidate;
  const double tile_flop = 2.0 * static_cast<double>(kernel.tile_m * kernel.tile_n) * static_cast<double>(plan.shape.k);
  // Below the power cap idle SMs of the last wave are simply idle; at it they give about half of their power to others.
  const bool sustained = plan.device.regime == Regime::sustained;
  const auto whole = static_cast<double>(rounded_up(candidate.tiles, plan.device.sms) / plan.device.sms);
  const double waves = sustained ? (candidate.waves + whole) / 2 : whole;
  const double teraflops = sustained ? kSustainedTeraflops * kernel.sustained : kSpacedTeraflops * kernel.spaced;
  candidate.microseconds =
      kernel.fixed_microseconds + waves * static_cast<double>(plan.device.sms) * tile_flop / (teraflops * 1e6) *
                                      locality_loss(plan.device.regime, candidate.swizzle, plan.shape);
  return candidate;
}

core::Reason unsound(const GemmShape& shape, std::int64_t run_rows, std::int64_t sms) {
  if (shape.m <= 0 || shape.n <= 0 || shape.k <= 0)
    return fmt::format("GEMM {} x {} x {}: every size must be positive", shape.m, shape.n, shape.k);
  if (sms < kClusterBlocks) return fmt::format("{} SMs: a cluster needs {}", sms, kClusterBlocks);
  if (shape.k % kPullTileK != 0)
    return fmt::format("k = {} is not a multiple of the K tile's {} columns", shape.k, kPullTileK);
  if (shape.n % kAlignment != 0)
    return fmt::format("rows of n = {} elements do not start at 16-byte addresses", shape.n);
  if (run_rows <= 0 || run_rows % kPullTileRows != 0 || shape.m % run_rows != 0)
    return fmt::format("{} rows in runs of {}: not whole runs of whole tiles of {} rows", shape.m, run_rows,
                       kPullTileRows);
  return {};
}

/// A tile has rows of one run and waits for one flag of each peer.
bool divides(const PullKernel& kernel, std::int64_t run_rows) { return run_rows % kernel.tile_m == 0; }

core::Reason too_tall(const KernelWish& wish, std::int64_t run_rows, Architecture architecture) {
  const auto asked = std::ranges::find(kKernels, std::string_view(wish.kernel), &PullKernel::name);
  if (asked == std::end(kKernels) || divides(*asked, run_rows)) return {};
  std::vector<std::string_view> others;
  for (const PullKernel& kernel : kKernels)
    if (kernel.architecture == architecture && divides(kernel, run_rows)) others.push_back(kernel.name);
  return fmt::format(
      "the spec asks for {}: its tiles of {} rows do not divide the runs of {} rows; {} have tiles that do", text(wish),
      asked->tile_m, run_rows, fmt::join(others, ", "));
}

}  // namespace

std::span<const PullKernel> pull_kernels() { return kKernels; }
std::span<const TileOrder> pull_orders() { return kOrders; }

const PullCandidate& PullPlan::chosen() const {
  return *std::ranges::find_if(candidates, [](const PullCandidate& candidate) { return !candidate.rejected; });
}

PullPlan plan_pull(const GemmShape& shape, std::int64_t run_rows, const DeviceSetting& device, const KernelWish& wish) {
  PullPlan plan{.shape = shape, .device = device, .wish = wish};
  plan.refused = unsound(shape, run_rows, device.sms);
  if (!plan.refused) plan.refused = foreign(places(pull_kernels()), wish, device.architecture);
  if (plan.refused) return plan;
  for (const PullKernel& kernel : kKernels) {
    if (kernel.architecture != device.architecture) continue;
    if (!divides(kernel, run_rows)) continue;
    for (const TileOrder& order : kOrders) {
      const PullCandidate candidate = costed(kernel, order, run_rows, plan);
      if (candidate.swizzle == order.swizzle) plan.candidates.push_back(candidate);
    }
  }
  choose(plan);
  if (auto why = too_tall(wish, run_rows, device.architecture)) plan.refused = why;
  return plan;
}

std::string text(const PullPlan& plan) {
  std::string out = fmt::format("pull {} x {} x {} {} on {}: {}\n", plan.shape.m, plan.shape.n, plan.shape.k,
                                plan.shape.weight_transposed ? "TN" : "NN", text(plan.device), text(plan.wish));
  if (plan.device.architecture != Architecture::sm_90a)
    out += fmt::format("  {}: {}\n", name(plan.device.architecture), evidence(plan.device.architecture));
  for (const PullCandidate& candidate : plan.candidates)
    out += fmt::format(
        "  {:<12} groups of {:>5} rows, flags of {} rows, units {} then {} bytes {:>6} tiles {:>7.2f} waves "
        "{:>9} us  {}\n",
        fmt::format("{}/{}", candidate.kernel->name, candidate.order), candidate.moves.group_rows,
        candidate.moves.block_rows, candidate.moves.first_unit, candidate.moves.unit, candidate.tiles, candidate.waves,
        predicted(candidate.kernel->measured(), candidate.microseconds),
        candidate.rejected ? *candidate.rejected : "CHOSEN");
  if (plan.refused) out += fmt::format("  refused: {}\n", *plan.refused);
  return out;
}

}  // namespace megaup::ops
