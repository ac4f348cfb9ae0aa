#include <megaup/analysis/conclusions.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace megaup::analysis {

namespace {

void warn_of_order(Row& row) {
  const OrderEffect& order = *row.conclusion.order_effect;
  row.warnings.push_back(
      {"order warning",
       fmt::format("the run order matters: half of (initial - reversed) is {:+.4g} ms ({:+.4g} to {:+.4g} ms)",
                   order.effect, order.interval.low, order.interval.high)});
}

}  // namespace

std::optional<double> coarser(std::optional<double> share, const Row& row) {
  if (!row.statistics.control) return share;
  return std::max(share.value_or(0), row.statistics.control->share);
}

void conclude(Row& row, std::optional<double> file_share) {
  if (!row.delta) {
    row.conclusion.verdict = Verdict{VerdictKind::not_measured, fmt::format("{}: {}", row.status, row.reason), {}};
  } else if (row.source == "simulated") {
    row.conclusion.verdict = Verdict{VerdictKind::not_measured, "simulated: predicted from a machine description", {}};
  } else {
    row.conclusion = conclude(row.statistics, row.delta->baseline_ms, file_share, row.candidate);
    if (row.conclusion.order_effect && row.conclusion.order_effect->matters) warn_of_order(row);
  }
}

}  // namespace megaup::analysis
