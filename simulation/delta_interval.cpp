#include <megaup/simulation/delta_interval.hpp>

#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include <megaup/core/student_t.hpp>
#include <megaup/simulation/validate.hpp>

namespace megaup::simulation {
namespace {

/// Held-out errors against one baseline.
struct Errors {
  double squares = 0;
  std::int64_t count = 0, models = 0;
  double rms() const { return std::sqrt(squares / static_cast<double>(count)); }
};

Errors errors_against(const Machine& machine, const std::string& baseline) {
  Errors errors;
  std::set<std::array<std::int64_t, 4>> models;  // by their sizes: the same model under two names is one
  for (const CalibratedCell& cell : machine.cells) {
    const auto found = cell.held_out.find(baseline);
    if (found == cell.held_out.end()) continue;
    errors.squares += found->second * found->second;
    ++errors.count;
    models.insert({cell.problem.H, cell.problem.Hq, cell.problem.Hk, cell.problem.D});
  }
  errors.models = static_cast<std::int64_t>(models.size());
  return errors;
}

void set_interval(const Machine& machine, PredictedDelta& delta) {
  if (delta.candidate != kValidatedCandidate) {
    delta.interval_basis = fmt::format("no interval: held-out errors are of {}, not of candidate {}",
                                       kValidatedCandidate, delta.candidate);
    return;
  }
  const Errors errors = errors_against(machine, delta.baseline);
  if (errors.models < kLeastModels) {
    delta.interval_basis = fmt::format("no interval: held-out errors against {} of {} models, at least {} are needed",
                                       delta.baseline, errors.models, kLeastModels);
    return;
  }
  if (!(errors.squares > 0)) {
    delta.interval_basis =
        fmt::format("no interval: all held-out errors against {} are 0, which no measurement gives", delta.baseline);
    return;
  }
  const double t = core::student_t_quantile(0.5 + 0.5 * kConfidence, errors.models - 1);
  const double half = t * errors.rms() * delta.baseline_seconds;
  delta.low_seconds = delta.delta_seconds - half;
  delta.high_seconds = delta.delta_seconds + half;
  delta.interval_basis = fmt::format(
      "{:.0f} % against {}: Student's t {:.2f} ({} models - 1) times {:.1f} % of its time, the root mean square of {} "
      "held-out errors",
      100 * kConfidence, delta.baseline, t, errors.models, 100 * errors.rms(), errors.count);
}

}  // namespace

void judge(const Machine& machine, const Coverage& coverage, PredictedDelta& delta) {
  if (!coverage.inside)
    delta.interval_basis = fmt::format("no interval: outside the calibrated range ({})", coverage.outside.front());
  else
    set_interval(machine, delta);
  if (!delta.low_seconds) {
    delta.reason = fmt::format("Delta {:+.3f} ms has {}", 1e3 * delta.delta_seconds, delta.interval_basis);
    return;
  }
  delta.verdict = *delta.low_seconds > 0    ? PredictedVerdict::pays
                  : *delta.high_seconds < 0 ? PredictedVerdict::does_not_pay
                                            : PredictedVerdict::undecided;
  const auto* const where = *delta.low_seconds > 0    ? "above 0"
                            : *delta.high_seconds < 0 ? "below 0"
                                                      : "on both sides of 0";
  delta.reason = fmt::format("Delta {:+.3f} ms, its interval {:+.3f} to {:+.3f} ms lies {}", 1e3 * delta.delta_seconds,
                             1e3 * *delta.low_seconds, 1e3 * *delta.high_seconds, where);
}

}  // namespace megaup::simulation
