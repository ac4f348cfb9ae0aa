#pragma once

#include <megaup/simulation/predict.hpp>

namespace megaup::simulation {

/// Where the question stands to the machine's calibrated cells: within the least and largest m, n, k and bytes of each operation, with a
/// measured P and layouts, at the same duty and schedule. Arms are judged one by one, by their held-out errors.
Coverage coverage_of(const Machine& machine, const Question& question);

}  // namespace megaup::simulation
