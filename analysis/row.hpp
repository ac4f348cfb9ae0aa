#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <megaup/analysis/details.hpp>
#include <megaup/analysis/statistics.hpp>

/// What an analysis answers: one row for each cell and baseline.
namespace megaup::analysis {

/// The four operations whose differences make a Delta, in the order in which they are summed and shown.
inline constexpr std::array<std::string_view, 4> kOperations{"qkv_fwd", "out_fwd", "out_dgrad", "qkv_dgrad"};

/// Arms that time a part alone. They are bounds, never a baseline.
inline constexpr std::string_view kGemmOnly = "gemm_only";
inline constexpr std::string_view kExchangeOnly = "exchange_only";
inline constexpr std::string_view kReorderOnly = "reorder_only";

/// The pair that is compared when a cell does not say otherwise.
inline constexpr std::string_view kDefaultBaseline = "native_packed";
inline constexpr std::string_view kDefaultCandidate = "fused";

/// One operation of one row; milliseconds. Each time is t of docs/estimator.md. A bound is there only if the cell holds
/// it whole.
///   floor = max(gemm, exchange): no arm that computes and exchanges the same things can be expected below it
///   realised = (baseline - candidate) / (baseline - floor): share of the possible saving; none if the floor
///   is not below the baseline
struct OperationRow {
  std::string_view operation;
  double baseline_ms = 0, candidate_ms = 0, delta_ms = 0;
  std::optional<double> gemm_ms, exchange_ms, reorder_ms, floor_ms, realised;
};

/// What holds for all four operations together; milliseconds.
struct Delta {
  double baseline_ms = 0, candidate_ms = 0;
  double delta_ms = 0;
  double initial_ms = 0, reversed_ms = 0;  ///< the same sum from the blocks of one run order
};

/// What a reader of a row's numbers must know beside them.
struct Warning {
  std::string_view mark;  ///< a few words that stand on the row itself; empty = in the notes only
  std::string text;       ///< the whole, without the place
};

/// One cell against one baseline. `delta` is empty exactly when `status` is not "measured"; then `reason` says why.
/// status: measured | incomplete (something was not taken) | invalid (something taken cannot be a time, or cannot be
/// read) | failed | refused (both as stored).
struct Row {
  std::string file, cell, model;
  std::int64_t cp = 0, tokens_per_rank = 0, batch = 0, head_dim = 0;
  std::string dtype;
  std::map<std::string, std::string> setup;  ///< layouts, and how it was measured (cache, cadence, duty, schedule)
  std::string source, fabric;
  std::string status, reason;
  std::string baseline, candidate;
  std::optional<Delta> delta;
  std::vector<OperationRow>
      operations;  ///< those that are whole in both arms and both orders, in the order of kOperations
  std::vector<Warning> warnings;
  Statistics statistics;           ///< of rows with a Delta
  Conclusion conclusion;           ///< see conclude() in conclusions.hpp
  std::optional<Details> details;  ///< of rows with a Delta, if they were asked for
};

/// The break-even budget for h: Delta if it is positive, else none.
std::optional<double> budget_ms(const Row& row);

/// Delta if the candidate took only the floor of every operation; known when every operation has one, and only if it is positive.
std::optional<double> possible_ms(const Row& row);

/// The share of it that was realised: Delta / possible.
std::optional<double> realised(const Row& row);

/// "worked.h5 cells/drift (llama-3.1-8b, CP 2, M 2048, native_packed)", for notes and errors.
std::string place(const Row& row);

}  // namespace megaup::analysis
