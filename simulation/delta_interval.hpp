#pragma once

#include <megaup/simulation/predict.hpp>

namespace megaup::simulation {

/// Fills interval, basis, verdict and reason of a delta whose times are there.
void judge(const Machine& machine, const Coverage& coverage, PredictedDelta& delta);

}  // namespace megaup::simulation
