#include <megaup/simulation/gemm_time.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace megaup::simulation {
namespace {

using core::GemmShape;
using Logarithms = std::array<double, 3>;

Logarithms logarithms(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {std::log(static_cast<double>(m)), std::log(static_cast<double>(n)), std::log(static_cast<double>(k))};
}

std::int64_t rounded_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step; }

/// Those of the right form of weight, or all if there is none.
std::vector<const GemmPoint*> usable(const GemmTable& table, bool weight_transposed) {
  std::vector<const GemmPoint*> of_form, all;
  for (const GemmPoint& point : table.points) {
    all.push_back(&point);
    if (point.weight_transposed.value_or(weight_transposed) == weight_transposed) of_form.push_back(&point);
  }
  return of_form.empty() ? all : of_form;
}

bool encloses(const std::vector<const GemmPoint*>& points, const GemmShape& shape) {
  const auto within = [&](std::int64_t GemmPoint::*size, std::int64_t value) {
    const auto less = [size](const GemmPoint* a, const GemmPoint* b) { return a->*size < b->*size; };
    const auto [least, most] = std::minmax_element(points.begin(), points.end(), less);
    return (*least)->*size <= value && value <= (*most)->*size;
  };
  return !points.empty() && within(&GemmPoint::m, shape.m) && within(&GemmPoint::n, shape.n) &&
         within(&GemmPoint::k, shape.k);
}

double rate_of(const GemmPoint& point) {
  return core::flop(GemmShape{point.m, point.n, point.k, true}) / point.seconds;
}

double interpolated_rate(const std::vector<const GemmPoint*>& points, const GemmShape& shape) {
  const Logarithms wanted = logarithms(shape.m, shape.n, shape.k);
  std::vector<std::pair<double, double>> near;  // squared distance, ln rate
  for (const GemmPoint* point : points) {
    const Logarithms at = logarithms(point->m, point->n, point->k);
    double squared = 0;
    for (std::size_t i = 0; i < at.size(); ++i) squared += (at[i] - wanted[i]) * (at[i] - wanted[i]);
    near.emplace_back(squared, std::log(rate_of(*point)));
  }
  const std::size_t count = std::min(kNearest, near.size());
  std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(count), near.end());
  double sum = 0, weights = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double weight = 1 / (near[i].first + 1e-6);  // the same shape in the other form of weight has distance 0
    sum += weight * near[i].second;
    weights += weight;
  }
  return std::exp(sum / weights);
}

std::optional<Estimate> measured(const GemmTable& table, const GemmShape& shape) {
  for (const GemmPoint& point : table.points)
    if (point.m == shape.m && point.n == shape.n && point.k == shape.k &&
        point.weight_transposed.value_or(shape.weight_transposed) == shape.weight_transposed)
      return Estimate{point.seconds, fmt::format("GEMM measured ({})", table.source)};
  return std::nullopt;
}

}  // namespace

std::int64_t waves(const Machine& machine, const GemmShape& shape) {
  const Tile tile = machine.tile.value_or(Tile{});
  const std::int64_t tiles = rounded_up(shape.m, tile.m) * rounded_up(shape.n, tile.n);
  return rounded_up(tiles, machine.multiprocessors ? machine.multiprocessors->value : 1);
}

double full_wave_flop(const Machine& machine, std::int64_t k) {
  const Tile tile = machine.tile.value_or(Tile{});
  const std::int64_t multiprocessors = machine.multiprocessors ? machine.multiprocessors->value : 1;
  return 2.0 * static_cast<double>(multiprocessors) * static_cast<double>(tile.m) * static_cast<double>(tile.n) *
         static_cast<double>(k);
}

Answer<Estimate> gemm_time(const Machine& machine, const GemmShape& shape) {
  for (const GemmTable& table : machine.gemm)
    if (auto found = measured(table, shape)) return *found;
  for (const GemmTable& table : machine.gemm) {
    const auto points = usable(table, shape.weight_transposed);
    if (encloses(points, shape))
      return Estimate{core::flop(shape) / interpolated_rate(points, shape),
                      fmt::format("GEMM interpolated between the {} nearest of {} ({})",
                                  std::min(kNearest, points.size()), points.size(), table.source)};
  }
  if (!machine.gemm_rate || !machine.multiprocessors)
    return Cannot{fmt::format("no table of machine '{}' reaches a GEMM of {} x {} x {}, and it has no {}: add one",
                              machine.name, shape.m, shape.n, shape.k,
                              machine.gemm_rate ? "number of multiprocessors" : "gemm_rate")};
  const std::int64_t count = waves(machine, shape);
  const double wave_flop = full_wave_flop(machine, shape.k);
  const double launch = machine.launch ? machine.launch->value : 0;
  return Estimate{launch + static_cast<double>(count) * wave_flop / machine.gemm_rate->value,
                  fmt::format("GEMM of {} waves at {:.4g} TFLOP/s ({})", count, machine.gemm_rate->value / 1e12,
                              machine.gemm_rate->source)};
}

}  // namespace megaup::simulation
