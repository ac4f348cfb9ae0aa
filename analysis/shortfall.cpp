#include <megaup/analysis/shortfall.hpp>

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/analysis/row.hpp>

namespace megaup::analysis {
namespace {

using core::CellRecord;

Shortfall incomplete(std::string reason) { return {"incomplete", std::move(reason)}; }
Shortfall invalid(std::string reason) { return {"invalid", std::move(reason)}; }

std::optional<std::string> repeated(const std::vector<std::string>& names) {
  for (std::size_t i = 1; i < names.size(); ++i)
    if (*position(names, names[i]) < i) return names[i];
  return std::nullopt;
}

std::optional<Shortfall> size_shortfall(const CellRecord& cell) {
  if (cell.observations <= 0 || cell.ranks <= 0 || cell.operations.empty() || cell.arms.empty())
    return incomplete(fmt::format("no times: {} operations, {} arms, {} observations, {} ranks", cell.operations.size(),
                                  cell.arms.size(), cell.observations, cell.ranks));
  if (const std::size_t wanted = cell.index(cell.operations.size(), 0, 0, 0, 0); cell.latency.size() != wanted)
    return invalid(fmt::format("latency has {} values where its axes ask for {}", cell.latency.size(), wanted));
  if (const auto name = repeated(cell.operations)) return invalid(fmt::format("operation '{}' twice", *name));
  if (const auto name = repeated(cell.arms)) return invalid(fmt::format("arm '{}' twice", *name));
  return std::nullopt;
}

std::optional<Shortfall> order_shortfall(const CellRecord& cell) {
  for (std::size_t block = 0; block < cell.order.size(); ++block)
    if (cell.order[block] > 1)
      return invalid(
          fmt::format("order {} at block {} is neither 0 (initial) nor 1 (reversed)", cell.order[block], block));
  const auto initial = std::count(cell.order.begin(), cell.order.end(), std::uint8_t{0});
  const auto reversed = std::count(cell.order.begin(), cell.order.end(), std::uint8_t{1});
  if (initial == 0 && reversed == 0) return incomplete("initial and reversed missing");
  if (initial == 0) return incomplete("initial missing");
  if (reversed == 0) return incomplete("reversed missing");
  if (initial != reversed)
    return incomplete(fmt::format("{} missing in {} of {} pairs", initial < reversed ? "initial" : "reversed",
                                  std::abs(initial - reversed), std::max(initial, reversed)));
  return std::nullopt;
}

/// Times of one operation by one arm in one block: [observation, rank].
std::span<const double> block_times(const CellRecord& cell, std::size_t op, std::size_t arm, std::size_t block) {
  return {cell.latency.data() + cell.index(op, arm, block, 0, 0),
          static_cast<std::size_t>(cell.observations * cell.ranks)};
}

bool not_taken(std::span<const double> times) {
  return std::all_of(times.begin(), times.end(), [](double time) { return std::isnan(time); });
}

std::string_view order_name(std::uint8_t order) { return order == 0 ? "initial" : "reversed"; }

/// (operation, arm) positions of a comparison, in the order of the file.
std::vector<std::pair<std::size_t, std::size_t>> needed(const CellRecord& cell, std::size_t baseline,
                                                        std::size_t candidate) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t op = 0; op < cell.operations.size(); ++op) {
    if (std::find(kOperations.begin(), kOperations.end(), cell.operations[op]) == kOperations.end()) continue;
    pairs.emplace_back(op, std::min(baseline, candidate));
    pairs.emplace_back(op, std::max(baseline, candidate));
  }
  return pairs;
}

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// Whole blocks that were never taken: of an order, of an operation, or one of them.
std::optional<Shortfall> untaken_blocks(const CellRecord& cell, const Pairs& pairs) {
  for (const std::uint8_t order : {std::uint8_t{0}, std::uint8_t{1}}) {
    bool all = true;
    for (std::size_t block = 0; block < cell.order.size(); ++block)
      for (const auto& [op, arm] : pairs)
        all = all && (cell.order[block] != order || not_taken(block_times(cell, op, arm, block)));
    if (all) return incomplete(fmt::format("{} missing", order_name(order)));
  }
  for (const auto& [op, arm] : pairs) {
    std::vector<std::size_t> missing;
    for (std::size_t block = 0; block < cell.order.size(); ++block)
      if (not_taken(block_times(cell, op, arm, block))) missing.push_back(block);
    if (missing.size() == cell.order.size())
      return incomplete(fmt::format("{} missing in {}", cell.operations[op], cell.arms[arm]));
    if (!missing.empty())
      return incomplete(fmt::format("{} missing in {}, block {} ({})", cell.operations[op], cell.arms[arm], missing[0],
                                    order_name(cell.order[missing[0]])));
  }
  return std::nullopt;
}

std::string_view fault_of(double time) {
  if (std::isnan(time)) return "NaN";
  if (std::isinf(time)) return "infinite time";
  if (time <= 0) return "times that are not positive";
  return {};
}

/// The first value that is not a time, and how many more there are.
std::optional<Shortfall> bad_value(const CellRecord& cell, const Pairs& pairs) {
  std::string first;
  std::size_t count = 0;
  for (const auto& [op, arm] : pairs)
    for (std::size_t block = 0; block < cell.order.size(); ++block) {
      const auto times = block_times(cell, op, arm, block);
      for (std::size_t i = 0; i < times.size(); ++i) {
        const std::string_view fault = fault_of(times[i]);
        if (fault.empty()) continue;
        if (++count > 1) continue;
        const auto ranks = static_cast<std::size_t>(cell.ranks);
        first = fmt::format("{} at {}, {}, block {}, observation {}, rank {}", fault, cell.operations[op],
                            cell.arms[arm], block, i / ranks, i % ranks);
      }
    }
  if (count == 0) return std::nullopt;
  return invalid(count == 1 ? first : fmt::format("{} (and {} more values)", first, count - 1));
}

}  // namespace

std::optional<std::size_t> position(const std::vector<std::string>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

std::optional<Shortfall> cell_shortfall(const CellRecord& cell) {
  // A cell that was never measured may have no times to read: its own reason comes before what the reader missed.
  if (cell.status == "failed" || cell.status == "incomplete" || cell.status == "refused")
    return Shortfall{cell.status, cell.reason.empty() ? "no reason was stored" : cell.reason};
  if (!cell.fault.empty()) return invalid(cell.fault);
  if (cell.status != "measured")
    return invalid(fmt::format("status '{}' is not one of measured, failed, incomplete, refused", cell.status));
  if (auto found = size_shortfall(cell)) return found;
  return order_shortfall(cell);
}

std::optional<Shortfall> pair_shortfall(const CellRecord& cell, std::string_view baseline, std::string_view candidate) {
  const auto baseline_at = position(cell.arms, baseline);
  const auto candidate_at = position(cell.arms, candidate);
  std::vector<std::string_view> missing;
  if (!baseline_at) missing.push_back(baseline);
  if (!candidate_at) missing.push_back(candidate);
  for (const std::string_view operation : kOperations)
    if (!position(cell.operations, operation)) missing.push_back(operation);
  if (!missing.empty()) return incomplete(fmt::format("{} missing", fmt::join(missing, ", ")));

  const auto pairs = needed(cell, *baseline_at, *candidate_at);
  if (auto found = untaken_blocks(cell, pairs)) return found;
  return bad_value(cell, pairs);
}

}  // namespace megaup::analysis
