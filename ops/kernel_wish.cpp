#include <megaup/ops/kernel_wish.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace megaup::ops {

namespace {

bool fits(const PricedKernel& candidate, const KernelWish& wish) {
  return (wish.kernel.empty() || wish.kernel == candidate.kernel) &&
         (wish.order.empty() || wish.order == candidate.order);
}

/// The index of the cheapest that fits, the first of equals; candidates.size() if none does.
std::size_t cheapest(std::span<const PricedKernel> candidates, const KernelWish& wish) {
  std::size_t best = candidates.size();
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (fits(candidates[i], wish) && (best == candidates.size() || candidates[i].cost < candidates[best].cost))
      best = i;
  return best;
}

std::string excess(const PricedKernel& candidate, const PricedKernel& best) {
  const double more = candidate.cost - best.cost;
  if (candidate.measured)
    return more > 0 ? fmt::format("{:.1f} us slower", more) : "as fast, but a later row of the table";
  return more > 0 ? fmt::format("{:.2f} waves more", more) : "as many waves, but a later row of the table";
}

/// Every name once, in the order of the candidates.
void add(std::vector<std::string_view>& names, std::string_view name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

}  // namespace

std::string_view name(Raster value) {
  if (value == Raster::spread) return "S";
  return value == Raster::along_m ? "M" : "N";
}

std::string text(const KernelWish& wish) {
  const std::string kernel = wish.kernel.empty() ? "auto" : wish.kernel;
  return wish.order.empty() ? kernel : kernel + "/" + wish.order;
}

std::vector<core::Reason> rejections(std::span<const PricedKernel> candidates, const KernelWish& wish) {
  const std::size_t best = cheapest(candidates, wish);
  std::vector<core::Reason> reasons(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i == best) continue;
    reasons[i] = fits(candidates[i], wish) ? excess(candidates[i], candidates[best])
                                           : fmt::format("the spec asks for {}", text(wish));
  }
  return reasons;
}

core::Reason unfulfilled(std::span<const PricedKernel> candidates, const KernelWish& wish) {
  std::vector<std::string_view> kernels, orders;
  for (const PricedKernel& candidate : candidates) {
    if (fits(candidate, wish)) return {};
    add(kernels, candidate.kernel);
    if (wish.kernel.empty() || wish.kernel == candidate.kernel) add(orders, candidate.order);
  }
  if (orders.empty())
    return fmt::format("the spec asks for {}: no kernel {} runs this shape; there are {}", text(wish), wish.kernel,
                       fmt::join(kernels, ", "));
  return fmt::format("the spec asks for {}: this shape's grid of tiles has no order {}; there are {}", text(wish),
                     wish.order, fmt::join(orders, ", "));
}

std::string predicted(bool measured, double microseconds) {
  return measured ? fmt::format("{:.1f}", microseconds) : "?";
}

core::Reason foreign(std::span<const KernelPlace> table, const KernelWish& wish, Architecture architecture) {
  const auto asked = std::ranges::find(table, std::string_view(wish.kernel), &KernelPlace::name);
  if (asked == table.end() || asked->architecture == architecture) return {};
  std::vector<std::string_view> others;
  for (const KernelPlace& kernel : table)
    if (kernel.architecture == architecture) others.push_back(kernel.name);
  return fmt::format("the spec asks for {}: kernel {} is for {}, and this device is of {}, for which there are {}",
                     text(wish), asked->name, name(asked->architecture), name(architecture), fmt::join(others, ", "));
}

}  // namespace megaup::ops
