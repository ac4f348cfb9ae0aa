#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <megaup/experiments/prediction.hpp>
#include <megaup/simulation/measurements.hpp>
#include <megaup/simulation/validate.hpp>

/// What `megaup simulate` prints. Lines fit into `width` columns (0: no limit) where they can.
namespace megaup::cli {

/// One row for each predicted cell and baseline with range, interval and verdict; then what is outside the calibrated range and why, the
/// arms and cells without a prediction, and what is not modelled.
std::string prediction_text(const experiments::MachineFile& machine,
                            const std::vector<experiments::PredictedCell>& cells, const experiments::Spec& spec,
                            std::size_t width);

/// What a calibration found: what was fitted, what it was fitted to, what was left out.
std::string calibration_text(const simulation::Machine& machine, const simulation::Measurements& measurements,
                             std::size_t width);

/// Held-out errors of Delta by what was left out and by baseline, and who was taken for a winner or a loser.
std::string validation_text(const simulation::Validation& validation, const simulation::Measurements& measurements,
                            std::size_t width);

}  // namespace megaup::cli
