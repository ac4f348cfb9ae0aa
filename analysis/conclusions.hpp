#pragma once

#include <optional>

#include <megaup/analysis/row.hpp>

namespace megaup::analysis {

/// The larger of two resolutions as shares of the baseline: `share` so far, and that of this row's own A/A comparison if it has one.
std::optional<double> coarser(std::optional<double> share, const Row& row);

/// Fills row.conclusion. `file_share`: the coarsest resolution of the row's file; it serves rows whose cell has no A/A comparison.
/// A row without a Delta is "not measured" with its reason; so is a simulated one, whose blocks say nothing about noise. With fewer than
/// kLeastBlocks blocks a measured row has no verdict at all.
void conclude(Row& row, std::optional<double> file_share);

}  // namespace megaup::analysis
