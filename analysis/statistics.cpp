#include <megaup/analysis/statistics.hpp>

#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include <megaup/analysis/block_series.hpp>
#include <megaup/analysis/drift.hpp>
#include <megaup/analysis/number.hpp>
#include <megaup/analysis/row.hpp>
#include <megaup/analysis/sequential.hpp>
#include <megaup/analysis/sign_flip.hpp>

namespace megaup::analysis {
namespace {

using core::CellRecord;

double confidence_of(const CellRecord& cell) {
  const auto found = cell.extra.find(std::string(kStopLooks));
  if (found == cell.extra.end()) return look_confidence(1);
  const auto* allowed = std::get_if<std::int64_t>(&found->second);
  return look_confidence(allowed != nullptr && *allowed > 1 ? *allowed : 1);
}

Trend trend_of(const CellRecord& cell, std::string_view arm, const std::vector<double>& times_ms) {
  Trend trend{.p = mann_kendall_p(times_ms)};
  if (auto starts = block_starts(cell, arm, kOperations)) {
    for (double& start : *starts) start /= 60;
    trend.per_minute = true;
    trend.slope_ms = theil_sen_slope(*starts, times_ms);
  } else {
    std::vector<double> number(times_ms.size());
    std::iota(number.begin(), number.end(), 0.0);
    trend.slope_ms = theil_sen_slope(number, times_ms);
  }
  return trend;
}

std::vector<double> minus(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The arm that `control` repeats: the first one.
std::optional<Resolution> own_resolution(const CellRecord& cell, double confidence) {
  const auto control = block_times_ms(cell, kControl, kOperations, AcrossRanks::maximum);
  const auto first = block_times_ms(cell, cell.arms.front(), kOperations, AcrossRanks::maximum);
  if (!control || !first || cell.arms.front() == kControl) return std::nullopt;
  return resolution_of(ordered_mean(minus(*first, *control), cell.order), mean(*first), confidence);
}

}  // namespace

Statistics statistics_of(const CellRecord& cell, std::string_view baseline, std::string_view candidate) {
  Statistics result;
  result.blocks = static_cast<std::int64_t>(cell.order.size());
  result.confidence = confidence_of(cell);
  if (result.blocks < kLeastBlocks) return result;
  const auto baseline_ms = block_times_ms(cell, baseline, kOperations, AcrossRanks::maximum);
  const auto candidate_ms = block_times_ms(cell, candidate, kOperations, AcrossRanks::maximum);
  if (!baseline_ms || !candidate_ms) return result;
  const auto differences = minus(*baseline_ms, *candidate_ms);
  result.difference = ordered_mean(differences, cell.order);
  if (!result.difference) return result;
  result.sign_flip_p = sign_flip_p(differences);
  result.baseline = trend_of(cell, baseline, *baseline_ms);
  result.candidate = trend_of(cell, candidate, *candidate_ms);
  result.control = own_resolution(cell, result.confidence);
  return result;
}

Conclusion conclude(const Statistics& statistics, double baseline_ms, std::optional<double> file_share,
                    std::string_view candidate) {
  Conclusion result;
  if (statistics.control)
    result.resolution_ms = statistics.control->ms;
  else if (file_share)
    result.resolution_ms = *file_share * baseline_ms;
  if (!statistics.difference) return result;
  const OrderedMean& difference = *statistics.difference;
  result.interval_ms = interval_of(difference, statistics.confidence);
  result.h_safe_ms = lower_bound(difference, statistics.confidence);
  result.order_effect = order_effect(difference, statistics.confidence, result.resolution_ms);
  result.verdict = verdict_of({.difference = difference,
                               .confidence = statistics.confidence,
                               .sign_flip_p = statistics.sign_flip_p,
                               .resolution = result.resolution_ms,
                               .candidate = std::string(candidate),
                               .decimals = decimals_of(baseline_ms)});
  return result;
}

}  // namespace megaup::analysis
