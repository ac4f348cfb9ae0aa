#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <megaup/core/error.hpp>

/// What the planners of the fused GPU kernels share: names of what they choose, and the choice itself.
namespace megaup::ops {

/// The direction in which consecutive tiles are handed out. Spread (of pushes only): gemm_a2a/spread_order.hpp.
enum class Raster : std::uint8_t { along_m, along_n, spread };
std::string_view name(Raster value);

/// The order in which the tiles of a kernel are handed out. "N8": along N, those of 8 neighbouring rows or columns
/// together (swizzle 8). "S2": spread, in bands of 2 rows of clusters.
struct TileOrder {
  std::string_view name;
  Raster raster;
  int swizzle;
};

/// What a spec asks of a planner. What is empty is left to the planner.
struct KernelWish {
  std::string kernel;  ///< a name of the planner's table of kernels
  std::string order;   ///< a name of its table of orders
  friend bool operator==(const KernelWish&, const KernelWish&) = default;
};
/// As a spec states it: auto, pp128x192, pp128x192/N8, auto/N8.
std::string text(const KernelWish& wish);

/// A candidate of a planner, with its predicted time.
struct PricedKernel {
  std::string_view kernel, order;
  double microseconds;
};
/// For each candidate why it is not the fastest of those that fit the wish: nothing for exactly one, unless none fits.
std::vector<core::Reason> rejections(std::span<const PricedKernel> candidates, const KernelWish& wish);
/// Why no candidate fits the wish, naming what there is; nothing if one does.
core::Reason unfulfilled(std::span<const PricedKernel> candidates, const KernelWish& wish);

/// Chooses among plan.candidates as plan.wish says, and fills their `rejected` and plan.refused.
template <class Plan>
void choose(Plan& plan) {
  std::vector<PricedKernel> priced;
  for (const auto& candidate : plan.candidates)
    priced.push_back({candidate.kernel->name, candidate.order, candidate.microseconds});
  const std::vector<core::Reason> reasons = rejections(priced, plan.wish);
  for (std::size_t i = 0; i < reasons.size(); ++i) plan.candidates[i].rejected = reasons[i];
  plan.refused = unfulfilled(priced, plan.wish);
}

}  // namespace megaup::ops
