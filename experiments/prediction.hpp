#pragma once

#include <optional>
#include <string>
#include <vector>

#include <megaup/core/record.hpp>
#include <megaup/experiments/machine_file.hpp>
#include <megaup/experiments/plan.hpp>
#include <megaup/simulation/predict.hpp>

/// From a plan and a machine to predicted cells, and to the record that holds them. Nothing is measured.
namespace megaup::experiments {

struct PredictedCell {
  const Cell* cell = nullptr;
  std::string refused;                                   ///< why there is no prediction; empty if there is one
  std::optional<simulation::CellPrediction> prediction;  ///< its times are [operation, arm] of the spec
  std::vector<std::string> arms;                         ///< of the spec, those with a time of every operation
  std::vector<std::string> without;                      ///< "arm: reason" of the others
};

/// Why nothing of a spec can be predicted: it asks for a protocol that no machine file describes (ranks that share a device, a kernel by
/// name, cold caches, ranks that do not meet).
core::Reason unpredictable(const Spec& spec);

/// Predicts each cell of a plan that is not refused there. A cell is refused here if its candidate, or each of its baselines, has no
/// prediction. `backend.exchange` of the spec, unless auto, takes the place of the machine's default transport. Requires !unpredictable.
std::vector<PredictedCell> predict(const Plan& plan, const simulation::Machine& machine);

/// The cells as a record with source = simulated: each cell has one observation by one rank in a block of either order, all of them the
/// predicted time. docs/simulation.md lists its attributes. The machine's file is in /environment.
core::Record predicted_record(const Plan& plan, const MachineFile& machine, const std::vector<PredictedCell>& cells);

}  // namespace megaup::experiments
