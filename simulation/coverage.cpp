#include <megaup/simulation/coverage.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace megaup::simulation {
namespace {

using core::OperationForm;
using core::Problem;

constexpr std::array<std::string_view, 4> kSizeNames{"m", "n", "k", "bytes"};

std::array<double, 4> sizes_of(const OperationForm& op, const Problem& problem) {
  const core::GemmShape shape = core::gemm_shape(op, problem);
  return {static_cast<double>(shape.m), static_cast<double>(shape.n), static_cast<double>(shape.k),
          static_cast<double>(core::exchange_bytes(op, problem))};
}

/// "n of qkv_fwd is 3072, measured 4608 to 36864": the first operation that leaves the range of a size speaks for all.
void note_sizes(const Machine& machine, const Problem& problem, Coverage& coverage) {
  for (std::size_t size = 0; size < kSizeNames.size(); ++size)
    for (const OperationForm& op : core::kOperationForms) {
      const double value = sizes_of(op, problem)[size];
      double least = std::numeric_limits<double>::infinity(), most = 0;
      for (const CalibratedCell& cell : machine.cells) {
        least = std::min(least, sizes_of(op, cell.problem)[size]);
        most = std::max(most, sizes_of(op, cell.problem)[size]);
      }
      if (least <= value && value <= most) continue;
      coverage.outside.push_back(
          fmt::format("{} of {} is {:.0f}, measured {:.0f} to {:.0f}", kSizeNames[size], op.name, value, least, most));
      break;
    }
}

template <class Value>
void note_choice(const Machine& machine, std::string_view what, const Value& value, Value (*of)(const Problem&),
                 Coverage& coverage) {
  const auto same = [&](const CalibratedCell& cell) { return of(cell.problem) == value; };
  if (std::ranges::none_of(machine.cells, same))
    coverage.outside.push_back(fmt::format("{} {} was not measured", what, value));
}

void note_layouts(const Machine& machine, const Problem& problem, Coverage& coverage) {
  note_choice<std::int64_t>(
      machine, "CP", problem.P, [](const Problem& p) { return p.P; }, coverage);
  note_choice<std::int64_t>(
      machine, "head_dim", problem.D, [](const Problem& p) { return p.D; }, coverage);
  note_choice<std::string_view>(
      machine, "format", name(problem.format), [](const Problem& p) { return name(p.format); }, coverage);
  note_choice<std::string_view>(
      machine, "sequence order", name(problem.order), [](const Problem& p) { return name(p.order); }, coverage);
  note_choice<std::string_view>(
      machine, "QKV weight", name(problem.qkv_weight), [](const Problem& p) { return name(p.qkv_weight); }, coverage);
  note_choice<std::int64_t>(
      machine, "replication of KV heads by", problem.kv_copies(), [](const Problem& p) { return p.kv_copies(); },
      coverage);
}

void note_regime(const Machine& machine, const Question& question, Coverage& coverage) {
  if (question.duty != machine.duty)
    coverage.outside.push_back(fmt::format("duty {}, measured {}", question.duty, machine.duty));
  if (question.schedule != machine.schedule)
    coverage.outside.push_back(fmt::format("schedule {}, measured {}", question.schedule, machine.schedule));
}

/// Root mean square of the differences of logarithms, over the operations.
double distance(const Problem& a, const Problem& b) {
  double sum = 0;
  for (const OperationForm& op : core::kOperationForms) {
    const auto left = sizes_of(op, a), right = sizes_of(op, b);
    for (std::size_t i = 0; i < left.size(); ++i) sum += std::pow(std::log(left[i] / right[i]), 2);
    sum += std::pow(std::log(static_cast<double>(a.P) / static_cast<double>(b.P)), 2);
  }
  return std::sqrt(sum / static_cast<double>(core::kOperationForms.size()));
}

void find_nearest(const Machine& machine, const Problem& problem, Coverage& coverage) {
  const auto away = [&](const CalibratedCell& cell) { return distance(problem, cell.problem); };
  const auto nearest = std::ranges::min_element(machine.cells, {}, away);
  coverage.nearest =
      fmt::format("{}, CP {}, M {} ({})", nearest->model, nearest->problem.P, nearest->problem.M(), nearest->file);
  coverage.distance = away(*nearest);
}

/// How far the held-out predictions had to reach: the largest distance of a cell to the nearest one of another model.
double reach(const Machine& machine) {
  double farthest = 0;
  for (const CalibratedCell& cell : machine.cells) {
    double nearest = std::numeric_limits<double>::infinity();
    for (const CalibratedCell& other : machine.cells)
      if (other.model != cell.model) nearest = std::min(nearest, distance(cell.problem, other.problem));
    if (std::isfinite(nearest)) farthest = std::max(farthest, nearest);
  }
  return farthest;
}

void note_distance(const Machine& machine, Coverage& coverage) {
  const double farthest = reach(machine);
  if (coverage.distance > farthest)
    coverage.outside.push_back(
        fmt::format("{:.2f} away from its nearest measured cell, held-out predictions reached {:.2f}",
                    coverage.distance, farthest));
}

}  // namespace

Coverage coverage_of(const Machine& machine, const Question& question) {
  Coverage coverage;
  if (machine.cells.empty()) {
    coverage.outside.push_back(fmt::format("machine '{}' has no measured cell", machine.name));
    return coverage;
  }
  note_sizes(machine, question.problem, coverage);
  note_layouts(machine, question.problem, coverage);
  note_regime(machine, question, coverage);
  find_nearest(machine, question.problem, coverage);
  note_distance(machine, coverage);
  coverage.inside = coverage.outside.empty();
  return coverage;
}

}  // namespace megaup::simulation
