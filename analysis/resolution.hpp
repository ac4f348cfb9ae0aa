#pragma once

#include <optional>

#include <megaup/analysis/interval.hpp>

namespace megaup::analysis {

/// What a run can tell apart, from an A/A comparison (an arm against itself): the far end of its 95 % interval. Anything nearer to zero than
/// that may come from the measurement alone.
struct Resolution {
  double ms = 0;
  double share = 0;  ///< of the time of that arm, to carry over to cells without a comparison of their own
};

/// `difference`: block differences of the arm against itself; `arm_ms` its time. Nothing without an estimate (fewer than four blocks).
std::optional<Resolution> resolution_of(const std::optional<OrderedMean>& difference, double arm_ms, double confidence);

}  // namespace megaup::analysis
