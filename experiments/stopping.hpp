#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <megaup/core/record.hpp>
#include <megaup/experiments/spec.hpp>

namespace megaup::experiments {

/// How a cell with `measure.stop` may end before its last pair. What an interval is belongs to the analysis, which this layer does not know,
/// so the rule comes from outside. Rank 0 alone asks it, and tells the others.
struct Stopping {
  /// Numbers of pairs after which `enough` is asked, ascending. How many there are is stored with the cell (`stop_looks`): the analysis must
  /// know how often a run could have stopped.
  std::function<std::vector<std::int64_t>(const Stop&)> looks;
  /// The cell with the blocks so far: may it end here?
  std::function<bool(const core::CellRecord&, const Stop&)> enough;
};

}  // namespace megaup::experiments
