#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <megaup/core/problem.hpp>
#include <megaup/simulation/answer.hpp>
#include <megaup/simulation/machine.hpp>

namespace megaup::simulation {

/// A cell to predict: what a plan's cell asks for.
struct Question {
  core::Problem problem;
  std::vector<std::string> operations;  ///< names of docs/operations.md; `sequence` is the sum of the four
  std::vector<std::string>
      arms;  ///< native_*, fused, gemm_only, exchange_only, reorder_only, control (the first arm once more)
  std::string candidate = "fused";
  std::string duty = "sustained", schedule = "interleaved";
};

/// One operation by one arm. `floor_seconds` = max(FLOP / peak rate, link bytes / peak link rate) of what the arm does, 0 where the machine
/// has neither; no prediction is below it (`rule` says so where it took hold).
struct PredictedTime {
  std::string operation, arm;
  Answer<Estimate> time = Cannot{"not asked"};
  double floor_seconds = 0;
};

enum class PredictedVerdict : std::uint8_t { pays, does_not_pay, undecided };
/// "pays", "does not pay", "undecided".
std::string_view name(PredictedVerdict verdict);

/// The candidate against one baseline over the four operations.
struct PredictedDelta {
  std::string baseline, candidate;
  double baseline_seconds = 0, candidate_seconds = 0, delta_seconds = 0;
  /// Prediction interval of Delta: delta -+ t * rms * baseline, rms of the machine's held-out errors against this baseline, t of Student's
  /// distribution with one degree of freedom less than their models (errors of one model are not independent). Nothing for a cell outside
  /// the calibrated range, or with errors of fewer than kLeastModels models.
  std::optional<double> low_seconds, high_seconds;
  std::string interval_basis;  ///< where it is from, or why there is none
  PredictedVerdict verdict = PredictedVerdict::undecided;
  std::string reason;  ///< one sentence with the numbers
};

/// Where a cell stands to what was measured.
struct Coverage {
  bool inside = false;
  std::vector<std::string> outside;  ///< why not: one clause each, with both numbers
  std::string nearest;               ///< "llama-3.1-8b, CP 2, M 8192 (h200-x2-sizes.h5)"; "" if nothing was measured
  double distance =
      0;  ///< root mean square of ln(m), ln(n), ln(k), ln(bytes), ln(P) to it over the operations; 0 = itself
};

struct CellPrediction {
  std::vector<PredictedTime> times;  ///< [operation, arm], row-major, in the order of the question
  Coverage coverage;
  std::vector<PredictedDelta>
      deltas;  ///< one for each baseline (native_* arms) of which all four operations and the candidate's have a time

  const PredictedTime& at(std::size_t operation, std::size_t arm, std::size_t arms) const {
    return times[operation * arms + arm];
  }
};

/// An arm that the model knows. `bound`: gemm_only, exchange_only, reorder_only.
struct ArmModel {
  std::string_view name;
  bool bound;
};
/// All of them, native ones first. Whether a machine has the figures for one is said by its PredictedTime.
std::span<const ArmModel> arm_models();

inline constexpr double kConfidence = 0.95;      ///< of the prediction interval
inline constexpr std::int64_t kLeastModels = 3;  ///< models with held-out errors below which there is no interval

/// Predicts every operation by every arm. Cannot, with the reason of core::refusal, where no implementation may run the problem; and where
/// no arm at all can be predicted. An arm that this machine cannot predict has its reason in PredictedTime::time, and no Delta.
/// Cells outside the calibrated range are predicted, but no interval is claimed for them: their verdict is undecided.
/// Cost: operations * arms * points of the tables, and the square of the machine's cells.
Answer<CellPrediction> predict(const Machine& machine, const Question& question);

/// What the model leaves out, one line each, to be printed beside every prediction.
std::vector<std::string> not_modelled();

/// Transport of a native arm by its name: native_packed_ce -> copy_engine, _window -> nccl_window, _zero_cta -> nccl_zero_cta,
/// without a suffix the machine's default.
std::string transport_of(const Machine& machine, std::string_view arm);

}  // namespace megaup::simulation
