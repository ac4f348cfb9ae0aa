#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <megaup/analysis/interval.hpp>
#include <megaup/analysis/order_effect.hpp>
#include <megaup/analysis/resolution.hpp>
#include <megaup/analysis/verdict.hpp>
#include <megaup/core/record.hpp>

namespace megaup::analysis {

/// An arm that is the first baseline measured a second time under another name: the A/A comparison of its cell.
inline constexpr std::string_view kControl = "control";

/// Attribute of a cell whose run could stop early: the number of looks it was allowed (sequential.hpp).
inline constexpr std::string_view kStopLooks = "stop_looks";

/// How one arm's block times changed over the run; the blocks' times are sums over the four operations.
struct Trend {
  double slope_ms = 0;      ///< Theil-Sen
  bool per_minute = false;  ///< else per block, because the starts are not known
  double p = 1;             ///< Mann-Kendall, two-sided, in the order of the blocks
};

/// What the blocks of a cell say about one row beyond Delta. `difference` and everything that needs it is there from kLeastBlocks blocks on.
struct Statistics {
  std::int64_t blocks = 0;
  double confidence = 0.95;               ///< of the interval; nearer to 1 for a run that could stop early
  std::optional<OrderedMean> difference;  ///< of the block differences, milliseconds; its mean is Delta up to rounding
  double sign_flip_p = 1;
  std::optional<Trend> baseline, candidate;
  std::optional<Resolution> control;  ///< of this cell's own A/A comparison
};

/// Both arms must be whole at all four operations in every block: a row with a Delta.
Statistics statistics_of(const core::CellRecord& cell, std::string_view baseline, std::string_view candidate);

/// What is concluded from them; empty parts where the blocks do not suffice.
struct Conclusion {
  std::optional<Interval> interval_ms;
  std::optional<double>
      h_safe_ms;  ///< one-sided lower bound of Delta, same confidence: an integration overhead below it is safe
  std::optional<double> resolution_ms;
  std::optional<OrderEffect> order_effect;
  std::optional<Verdict> verdict;
};

/// `file_share`: the resolution as a share of the baseline, from another cell of the same file; used where the cell has no A/A comparison.
Conclusion conclude(const Statistics& statistics, double baseline_ms, std::optional<double> file_share,
                    std::string_view candidate);

}  // namespace megaup::analysis
