#include <megaup/analysis/stragglers.hpp>

#include <algorithm>
#include <cmath>

#include <megaup/analysis/shortfall.hpp>

namespace megaup::analysis {
namespace {

/// One observation [rank]. False if a value is no time.
bool add(std::span<const double> times, std::vector<Straggler>& ranks) {
  double sum = 0, slowest = 0;
  for (const double time : times) {
    if (!(time > 0 && std::isfinite(time))) return false;
    sum += time;
    slowest = std::max(slowest, time);
  }
  const double mean = sum / static_cast<double>(times.size());
  const double share = 1 / static_cast<double>(std::count(times.begin(), times.end(), slowest));
  for (std::size_t rank = 0; rank < times.size(); ++rank) {
    if (times[rank] == slowest) ranks[rank].slowest_share += share;
    ranks[rank].lag += (times[rank] - mean) / mean;
  }
  return true;
}

}  // namespace

std::vector<Straggler> stragglers(const core::CellRecord& cell, std::string_view arm,
                                  std::span<const std::string_view> operations) {
  const auto arm_at = position(cell.arms, arm);
  if (!arm_at || cell.ranks < 2) return {};
  std::vector<Straggler> ranks(static_cast<std::size_t>(cell.ranks));
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) ranks[rank].rank = static_cast<std::int64_t>(rank);
  double observations = 0;
  for (const std::string_view operation : operations) {
    const auto op = position(cell.operations, operation);
    if (!op) return {};
    const std::span<const double> all(cell.latency.data() + cell.index(*op, *arm_at, 0, 0, 0),
                                      cell.order.size() * static_cast<std::size_t>(cell.observations) * ranks.size());
    for (std::size_t first = 0; first < all.size(); first += ranks.size(), ++observations)
      if (!add(all.subspan(first, ranks.size()), ranks)) return {};
  }
  for (Straggler& straggler : ranks) {
    straggler.slowest_share /= observations;
    straggler.lag /= observations;
  }
  return ranks;
}

}  // namespace megaup::analysis
