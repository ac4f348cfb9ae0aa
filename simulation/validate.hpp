#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <megaup/simulation/answer.hpp>
#include <megaup/simulation/machine.hpp>
#include <megaup/simulation/measurements.hpp>

namespace megaup::simulation {

/// The only candidate whose predictions are held against measurements.
inline constexpr std::string_view kValidatedCandidate = "fused";

/// One measured Delta and its prediction by a machine that did not see it.
struct HeldOut {
  std::string left_out;  ///< "model llama-3.1-8b", "CP 2"
  std::size_t cell = 0;  ///< in the measurements
  std::string baseline;
  double measured_seconds = 0, predicted_seconds = 0,
         baseline_seconds = 0;  ///< Delta, Delta, measured sum of the baseline

  double error() const { return (predicted_seconds - measured_seconds) / baseline_seconds; }
};

/// Of the errors relative to the baseline's sum. Absolute values but for the bias, the mean of the signed ones.
struct ErrorSummary {
  std::size_t count = 0;
  double median = 0, p90 = 0, worst = 0, bias = 0;
};
ErrorSummary summary(const std::vector<HeldOut>& held_out);

/// [measured][predicted], 0 saves (Delta > 0), 1 does not: counts of HeldOut.
using Confusion = std::array<std::array<std::int64_t, 2>, 2>;
Confusion confusion(const std::vector<HeldOut>& held_out);

struct Validation {
  std::vector<HeldOut> models;     ///< each whole model left out in turn
  std::vector<HeldOut> cps;        ///< each CP left out in turn; empty with a single CP
  std::vector<std::string> notes;  ///< what could not be validated and why ("one CP only: ...")
};

/// Predicts each measured Delta (native_* against kValidatedCandidate) from the other models, and from the other CPs. What a run cannot tell is taken
/// from `base` as in calibrate. Cannot: fewer than two models, or no fused arm. Cost: of calibrate, once for each model and CP.
Answer<Validation> validate(const Measurements& measurements, const std::optional<Machine>& base);

}  // namespace megaup::simulation
