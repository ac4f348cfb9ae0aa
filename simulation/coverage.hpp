#pragma once

#include <megaup/simulation/predict.hpp>

namespace megaup::simulation {

/// Where the question stands to the machine's calibrated cells: within the least and largest m, n, k and bytes of each operation, with a
/// measured P, head_dim and layouts, at the same duty and schedule, and no farther from its nearest cell than a held-out cell was from the
/// nearest cell of another model: what the held-out errors vouch for. The batch is not looked at: m has it, and the order of rows that it
/// changes is one of the layouts. Arms are judged one by one, by their held-out errors.
Coverage coverage_of(const Machine& machine, const Question& question);

}  // namespace megaup::simulation
