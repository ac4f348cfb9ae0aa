#pragma once

#include <megaup/simulation/predict.hpp>

namespace megaup::simulation {

/// Where the question stands to the machine's calibrated cells: within the least and largest m, n, k and bytes of each operation, with a
/// measured P, layouts, and arms, at the same duty and schedule.
Coverage coverage_of(const Machine& machine, const Question& question);

}  // namespace megaup::simulation
