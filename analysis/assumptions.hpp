#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <megaup/analysis/row.hpp>

namespace megaup::analysis {

/// What the user says about the work around the four operations; milliseconds. At most one of step_ms and unchanged_ms:
/// they are two different bases for a percentage, and without either there is none.
struct Assumptions {
  std::optional<double> h_ms;          ///< integration cost of fused minus that of native; may be negative
  std::optional<double> step_ms;       ///< a measured step that holds the baseline's four operations
  std::optional<double> unchanged_ms;  ///< assumed time of everything else in a step
};

/// "0.10 ms", "100us", "1e-4 s", or a bare number of milliseconds. Throws Error{usage} naming `option` for anything
/// else.
double parse_milliseconds(std::string_view option, std::string_view text);

/// Throws Error{usage} if both bases are given, or one of them is not positive.
void check(const Assumptions& assumptions);

/// Delta - h. Nothing without h or Delta. It is a benefit exactly when it is positive (h < Delta, never h = Delta).
std::optional<double> saving_ms(const Row& row, const Assumptions& assumptions);

/// Percent of a step that is saved: (Delta - h, or Delta without h) over step_ms, or over the baseline's operations +
/// unchanged_ms. Nothing without Delta or a base, or if step_ms is shorter than the baseline's operations, which it
/// must hold.
std::optional<double> step_percent(const Row& row, const Assumptions& assumptions);

/// "of a step of 12 ms (given)", "of the operations + 5 ms of unchanged work (assumed)"; empty without a base.
std::string percent_base(const Assumptions& assumptions);

}  // namespace megaup::analysis
