#include <megaup/analysis/assumptions.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <megaup/core/error.hpp>

namespace megaup::analysis {

double parse_milliseconds(std::string_view option, std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits{
      {{"", 1.0}, {"s", 1e3}, {"ms", 1.0}, {"us", 1e-3}, {"ns", 1e-6}}};
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  std::string_view unit(end, static_cast<std::size_t>(last - end));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  for (const auto& [name, factor] : kUnits)
    if (error == std::errc{} && unit == name && std::isfinite(value * factor)) return value * factor;
  throw core::Error(
      core::ErrorKind::usage,
      fmt::format("{}: '{}' is not a time; write a number of milliseconds or a unit (s, ms, us, ns), as \"0.10 ms\"",
                  option, text));
}

void check(const Assumptions& assumptions) {
  if (assumptions.step_ms && assumptions.unchanged_ms)
    throw core::Error(core::ErrorKind::usage,
                      "--step-ms and --unchanged-ms are two different bases for a percentage: give the measured step, "
                      "or the assumed rest");
  if (assumptions.step_ms && !(*assumptions.step_ms > 0))
    throw core::Error(core::ErrorKind::usage,
                      fmt::format("--step-ms: {} ms is not a positive time", *assumptions.step_ms));
  if (assumptions.unchanged_ms && !(*assumptions.unchanged_ms >= 0))
    throw core::Error(core::ErrorKind::usage,
                      fmt::format("--unchanged-ms: {} ms is a negative time", *assumptions.unchanged_ms));
}

std::optional<double> saving_ms(const Row& row, const Assumptions& assumptions) {
  if (!row.delta || !assumptions.h_ms) return std::nullopt;
  return row.delta->delta_ms - *assumptions.h_ms;
}

std::optional<double> step_percent(const Row& row, const Assumptions& assumptions) {
  if (!row.delta) return std::nullopt;
  const double saved = row.delta->delta_ms - assumptions.h_ms.value_or(0);
  if (assumptions.unchanged_ms) return 100 * saved / (row.delta->baseline_ms + *assumptions.unchanged_ms);
  if (assumptions.step_ms && *assumptions.step_ms >= row.delta->baseline_ms) return 100 * saved / *assumptions.step_ms;
  return std::nullopt;
}

std::string percent_base(const Assumptions& assumptions) {
  if (assumptions.step_ms) return fmt::format("of a step of {} ms (given)", *assumptions.step_ms);
  if (assumptions.unchanged_ms)
    return fmt::format("of the baseline's operations + {} ms of unchanged work (assumed)", *assumptions.unchanged_ms);
  return {};
}

}  // namespace megaup::analysis
