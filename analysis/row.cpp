#include <megaup/analysis/row.hpp>

#include <fmt/format.h>

namespace megaup::analysis {

std::optional<double> budget_ms(const Row& row) {
  if (row.delta && row.delta->delta_ms > 0) return row.delta->delta_ms;
  return std::nullopt;
}

std::string place(const Row& row) {
  return fmt::format("{} cells/{} ({}, CP {}, M {}, {})", row.file, row.cell, row.model, row.cp, row.tokens_per_rank,
                     row.baseline);
}

}  // namespace megaup::analysis
