#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <megaup/analysis/outliers.hpp>
#include <megaup/analysis/stragglers.hpp>
#include <megaup/core/record.hpp>

namespace megaup::analysis {

/// How much of a cell an analysis keeps beside its rows.
enum class Depth {
  rows,          ///< nothing
  ranks,         ///< what Details holds but the observations
  observations,  ///< everything
};

/// The four operations one by one against the operation `sequence`, which is the four of them back to back, timed as one.
struct Additivity {
  double sum_ms = 0, sequence_ms = 0;
};

/// What stands behind one row. The two arms are the baseline (0) and the candidate (1).
struct Details {
  std::optional<double> rank_mean_delta_ms;  ///< Delta if each observation were the mean of the ranks, not the slowest
  std::vector<Straggler> stragglers[2];
  Outliers outliers[2];  ///< over all blocks and operations
  std::optional<Additivity> additivity[2];

  std::vector<std::uint8_t> order;  ///< [block]
  std::int64_t observations = 0;
  std::vector<float>
      maxima_ms;  ///< slowest rank, [operation, arm, block, observation]; empty below Depth::observations
};

/// The operation of a cell that times the four of a layer back to back.
inline constexpr std::string_view kSequence = "sequence";

/// For a row with a Delta. depth is not Depth::rows.
Details details_of(const core::CellRecord& cell, std::string_view baseline, std::string_view candidate, Depth depth);

}  // namespace megaup::analysis
