#include <megaup/analysis/row.hpp>

#include <fmt/format.h>

namespace megaup::analysis {

std::optional<double> budget_ms(const Row& row) {
  if (row.delta && row.delta->delta_ms > 0) return row.delta->delta_ms;
  return std::nullopt;
}

std::optional<double> possible_ms(const Row& row) {
  double sum = 0;
  for (const OperationRow& operation : row.operations) {
    if (!operation.floor_ms) return std::nullopt;
    sum += operation.baseline_ms - *operation.floor_ms;
  }
  if (!row.delta || !(sum > 0)) return std::nullopt;
  return sum;
}

std::optional<double> realised(const Row& row) {
  if (const auto possible = possible_ms(row)) return row.delta->delta_ms / *possible;
  return std::nullopt;
}

std::string place(const Row& row) {
  return fmt::format("{} cells/{} ({}, CP {}, M {}, {})", row.file, row.cell, row.model, row.cp, row.tokens_per_rank,
                     row.baseline);
}

}  // namespace megaup::analysis
