#include <megaup/simulation/curve_fit.hpp>

#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <megaup/simulation/native_arms.hpp>

namespace megaup::simulation {
namespace {

struct Mean {
  double sum = 0;
  std::int64_t count = 0;
  double value() const { return sum / static_cast<double>(count); }
};

using Samples = std::map<double, Mean>;  // [bytes]

/// Time of an arm's exchange; nothing if the arm is no packed one, or was not taken.
std::optional<double> exchange_seconds(const MeasuredCell& cell, std::string_view op, const std::string& arm,
                                       double gap) {
  const double* const whole = cell.time(op, arm);
  if (whole == nullptr) return std::nullopt;
  return *whole - *cell.time(op, "gemm_only") - *cell.time(op, "reorder_only") - gap;
}

std::vector<ExchangePoint> never_falling(const Samples& samples) {
  std::vector<std::pair<Mean, std::size_t>> pools;  // of how many sizes
  for (const auto& [bytes, mean] : samples) {
    pools.emplace_back(mean, 1);
    while (pools.size() > 1 && pools[pools.size() - 2].first.value() > pools.back().first.value()) {
      const auto last = pools.back();
      pools.pop_back();
      pools.back().first.sum += last.first.sum;
      pools.back().first.count += last.first.count;
      pools.back().second += last.second;
    }
  }
  std::vector<ExchangePoint> points;
  auto sample = samples.begin();
  for (const auto& [mean, sizes] : pools)
    for (std::size_t i = 0; i < sizes; ++i, ++sample)
      if (mean.value() > 0) points.push_back({sample->first, rounded(mean.value())});
  return points;
}

}  // namespace

double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  // Through decimal text: what is kept is then the number that a reader of those digits gets.
  const std::string text = fmt::format("{:.5e}", value);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<ExchangeCurve> fit_curves(const std::vector<const MeasuredCell*>& cells, const Machine& machine,
                                      const std::string& source, const std::string& date) {
  const double gap = machine.gap ? machine.gap->value : 0;
  std::map<std::pair<std::string, std::int64_t>, Samples> curves;
  const auto add = [&](const std::string& transport, const MeasuredCell& cell, const core::OperationForm& op,
                       double seconds) {
    Mean& mean = curves[{transport, cell.problem.P}][static_cast<double>(core::exchange_bytes(op, cell.problem))];
    mean.sum += seconds;
    ++mean.count;
  };
  for (const MeasuredCell* cell : cells)
    for (const core::OperationForm& op : core::kOperationForms) {
      add(machine.default_transport, *cell, op, *cell->time(op.name, "exchange_only"));
      for (const std::string& arm : cell->arms) {
        const auto native = native_arm(machine, arm);
        if (!native || native->way != NativeWay::packed || native->transport == machine.default_transport) continue;
        if (const auto seconds = exchange_seconds(*cell, op.name, arm, gap))
          add(native->transport, *cell, op, *seconds);
      }
    }
  std::vector<ExchangeCurve> out;
  for (const auto& [key, samples] : curves) {
    const std::string how =
        key.first == machine.default_transport ? "exchange_only" : "packed arm less its other parts";
    ExchangeCurve curve{key.first, key.second, fmt::format("{} ({})", source, how), date, never_falling(samples)};
    if (!curve.points.empty()) out.push_back(std::move(curve));
  }
  return out;
}

}  // namespace megaup::simulation
