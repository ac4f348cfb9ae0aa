#pragma once

#include <optional>
#include <string>
#include <vector>

#include <megaup/analysis/analysis.hpp>

/// Two results side by side: what differs around them first, then the Delta of their Deltas.
namespace megaup::analysis {

/// One thing that is not the same in both files; empty = not stored.
struct EnvironmentDifference {
  std::string name, a, b;
  bool marks =
      false;  ///< a time depends on it (host, processor, driver, library, ...): a change of Delta may be its doing
};

/// The same configuration in both.
struct Change {
  Row a, b;
  double change_ms = 0;                 ///< Delta of b - Delta of a
  std::optional<Interval> interval_ms;  ///< 95 %, by Welch's t; only if both rows have an interval of their own
};

struct Comparison {
  std::string path_a, path_b;
  std::vector<EnvironmentDifference> environment;  ///< in the order of their names
  std::vector<Change> changes;                     ///< in the order of a's rows
  std::vector<std::string> unpaired;               ///< rows without a partner or a Delta, with the reason
};

/// Both analyses must be of one file each. Rows are paired by model, CP, tokens per rank, batch, head size, precision, baseline and candidate,
/// and only if layouts and the way of measuring (cache, cadence, duty, schedule) are the same too; a configuration that is there twice on one side is paired with nothing.
Comparison compare(const Analysis& a, const Analysis& b);

/// Text for a terminal of `width` columns (0 = no limit).
std::string print_comparison(const Comparison& comparison, std::size_t width);

/// {"format": "megaup-comparison", "format_version": "1.0.0", "a", "b", "environment": [...], "marked", "rows": [...], "unpaired": [...]}
std::string print_comparison_json(const Comparison& comparison);

}  // namespace megaup::analysis
