#pragma once

#include <string>
#include <vector>

#include <megaup/analysis/row.hpp>

namespace megaup::analysis {

/// What must be read with intervals and verdicts, or why there are none: blocks that are missing, what the interval is, the resolution, how
/// many calls chance alone would give, and each row's reason with its place.
std::vector<std::string> statistics_notes(const std::vector<Row>& rows);

}  // namespace megaup::analysis
