#pragma once

#include <optional>
#include <vector>

#include <megaup/simulation/answer.hpp>
#include <megaup/simulation/machine.hpp>
#include <megaup/simulation/measurements.hpp>

namespace megaup::simulation {

/// All but name, description and the calibrated cells of calibrate(), from some cells of a run: what calibrate() and validate() share. At least
/// one cell. Every figure has six significant digits. Cannot: the base has another fabric.
Answer<Machine> fit(const std::vector<const MeasuredCell*>& cells, const std::optional<Machine>& base);

}  // namespace megaup::simulation
