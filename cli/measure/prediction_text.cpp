#include <megaup/cli/measure/prediction_text.hpp>

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/analysis/grid.hpp>
#include <megaup/analysis/number.hpp>
#include <megaup/analysis/text.hpp>

namespace megaup::cli {
namespace {

using analysis::Grid;

std::string cells_text(std::size_t n) { return fmt::format("{} cell{}", n, n == 1 ? "" : "s"); }

/// A title and lines below it, indented; nothing without lines.
std::string list_text(std::string_view title, const std::vector<std::string>& lines, std::size_t width) {
  if (lines.empty()) return {};
  std::string out = fmt::format("\n{}\n", title);
  for (const auto& line : lines) {
    const auto shown = width > 8 ? analysis::wrapped(analysis::printable(line), width - 4)
                                 : std::vector<std::string>{analysis::printable(line)};
    for (std::size_t i = 0; i < shown.size(); ++i) out += fmt::format("{}{}\n", i == 0 ? "  " : "    ", shown[i]);
  }
  return out;
}

/// Texts with the cells that have them, so that what holds for many is said once.
class Clauses {
 public:
  void add(const std::string& clause, const std::string& cell) {
    auto& cells = cells_[clause];
    if (std::ranges::find(cells, cell) == cells.end()) cells.push_back(cell);
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> out;
    for (const auto& [clause, cells] : cells_)
      out.push_back(cells.size() == 1 ? fmt::format("{} ({})", clause, cells[0])
                                      : fmt::format("{} ({} and {} more)", clause, cells[0], cells.size() - 1));
    return out;
  }

 private:
  std::map<std::string, std::vector<std::string>> cells_;
};

std::vector<std::string> delta_row(const experiments::Cell& cell, const simulation::CellPrediction& prediction,
                                   const simulation::PredictedDelta& delta) {
  const double baseline_ms = delta.baseline_seconds * 1e3;
  const int decimals = analysis::decimals_of(baseline_ms);
  const auto difference = [&](double seconds) { return analysis::difference_text(seconds * 1e3, decimals); };
  return {cell.model,
          fmt::format("{}", cell.problem.P),
          fmt::format("{}", cell.tokens_per_rank),
          delta.baseline,
          analysis::time_text(baseline_ms, decimals),
          analysis::time_text(delta.candidate_seconds * 1e3, decimals),
          difference(delta.delta_seconds),
          delta.low_seconds && delta.high_seconds
              ? fmt::format("{} to {}", difference(*delta.low_seconds), difference(*delta.high_seconds))
              : "-",
          std::string(simulation::name(delta.verdict)),
          prediction.coverage.inside ? "inside" : "outside",
          prediction.coverage.nearest.empty() ? "-" : prediction.coverage.nearest};
}

/// Without Deltas (a spec of fewer than four operations) the times themselves.
std::string times_text(const std::vector<experiments::PredictedCell>& cells, std::size_t width) {
  Grid grid{.columns = {{"model"}, {"CP", true}, {"M", true}, {"operation"}, {"arm"}, {"ms", true}, {"rule"}}};
  for (const auto& cell : cells) {
    if (!cell.refused.empty() || !cell.prediction->deltas.empty()) continue;
    for (const auto& time : cell.prediction->times)
      if (time.time) {
        const double ms = time.time->seconds * 1e3;
        grid.rows.push_back({cell.cell->model, fmt::format("{}", cell.cell->problem.P),
                             fmt::format("{}", cell.cell->tokens_per_rank), time.operation, time.arm,
                             analysis::time_text(ms, analysis::decimals_of(ms)), time.time->rule});
      }
  }
  if (grid.rows.empty()) return {};
  return "\nNo Delta, which takes the four operations: the times\n" + analysis::text_of(grid, width);
}

void summary_row(std::vector<std::vector<std::string>>& rows, const std::string& left_out, const std::string& baseline,
                 const std::vector<simulation::HeldOut>& errors) {
  const auto percent = [](double share) { return fmt::format("{:.1f}", 100 * share); };
  const auto s = simulation::summary(errors);
  rows.push_back({left_out, baseline, fmt::format("{}", s.count), percent(s.median), percent(s.p90), percent(s.worst),
                  fmt::format("{:+.1f}", 100 * s.bias)});
}

/// By what was left out, then all of a baseline, then all.
std::string errors_text(const std::vector<simulation::HeldOut>& all, std::size_t width) {
  std::map<std::pair<std::string, std::string>, std::vector<simulation::HeldOut>> groups;
  std::map<std::string, std::vector<simulation::HeldOut>> baselines;
  for (const auto& one : all) {
    groups[{one.left_out, one.baseline}].push_back(one);
    baselines[one.baseline].push_back(one);
  }
  Grid grid{.columns = {{"left out"},
                        {"baseline"},
                        {"Deltas", true},
                        {"median %", true},
                        {"p90 %", true},
                        {"worst %", true},
                        {"bias %", true}}};
  for (const auto& [key, errors] : groups) summary_row(grid.rows, key.first, key.second, errors);
  for (const auto& [baseline, errors] : baselines) summary_row(grid.rows, "each in turn", baseline, errors);
  summary_row(grid.rows, "each in turn", "all", all);
  return analysis::text_of(grid, width);
}

std::string confusion_text(const std::vector<simulation::HeldOut>& all, std::size_t width) {
  const auto counts = simulation::confusion(all);
  Grid grid{.columns = {{"measured"}, {"predicted to save", true}, {"predicted not to save", true}}};
  for (std::size_t row = 0; row < 2; ++row)
    grid.rows.push_back({row == 0 ? "saves (Delta > 0)" : "does not save", fmt::format("{}", counts[row][0]),
                         fmt::format("{}", counts[row][1])});
  return analysis::text_of(grid, width);
}

/// Name, origin and the two factors of the fused kernels.
std::string machine_text(const simulation::Machine& machine, std::size_t width) {
  std::vector<std::string> lines{machine.description,
                                 "factors are fitted together: one by itself says nothing about the hardware"};
  const auto factors = [&](std::string_view family, const std::optional<simulation::Contention>& value) {
    lines.push_back(value ? fmt::format("{}: the GEMM takes x{:.3f} of its time alone, the exchange x{:.3f} ({})",
                                        family, value->compute.value, value->link.value, value->compute.source)
                          : fmt::format("{}: no factors, so no prediction", family));
  };
  factors("fused, GEMM first", machine.push);
  factors("fused, exchange first", machine.pull);
  return list_text(fmt::format("Machine {}", analysis::printable(machine.name)), lines, width);
}

/// How the parts were found, from the bounds: they are one part each.
void add_rules(Clauses& rules, const experiments::PredictedCell& cell) {
  for (const auto& time : cell.prediction->times)
    if (time.time && time.arm.ends_with("_only")) rules.add(time.time->rule, cell.cell->id);
}

}  // namespace

std::string prediction_text(const experiments::MachineFile& machine,
                            const std::vector<experiments::PredictedCell>& cells, const experiments::Spec& spec,
                            std::size_t width) {
  Grid grid{.columns = {{"model"},
                        {"CP", true},
                        {"M", true},
                        {"baseline"},
                        {"baseline ms", true},
                        {spec.arms.candidate + " ms", true},
                        {"Delta ms", true},
                        {"95 % interval", true},
                        {"verdict"},
                        {"range"},
                        {"nearest measured"}}};
  Clauses rules, outside, without, refused, reasons;
  for (const auto& cell : cells) {
    for (const auto& line : cell.without) without.add(line, cell.cell->id);
    if (!cell.refused.empty()) {
      refused.add(cell.refused, cell.cell->id);
      continue;
    }
    add_rules(rules, cell);
    for (const auto& clause : cell.prediction->coverage.outside) outside.add(clause, cell.cell->id);
    for (const auto& delta : cell.prediction->deltas) {
      grid.rows.push_back(delta_row(*cell.cell, *cell.prediction, delta));
      if (cell.prediction->coverage.inside) reasons.add(delta.interval_basis, cell.cell->id);
    }
  }
  std::string out =
      fmt::format("Simulated, not measured: {} of {}\n", cells_text(cells.size()), analysis::printable(spec.name));
  out += machine_text(machine.machine, width);
  if (!grid.rows.empty()) out += "\n" + analysis::text_of(grid, width);
  out += times_text(cells, width);
  out += list_text("Outside the calibrated range: no interval, undecided", outside.lines(), width);
  out += list_text("Intervals inside the range", reasons.lines(), width);
  out += list_text("Parts", rules.lines(), width);
  out += list_text("Arms without a prediction", without.lines(), width);
  out += list_text("Refused cells", refused.lines(), width);
  return out + list_text("Not modelled", simulation::not_modelled(), width);
}

std::string calibration_text(const simulation::Machine& machine, const simulation::Measurements& measurements,
                             std::size_t width) {
  std::size_t shapes = 0;
  for (const auto& table : machine.gemm) shapes += table.points.size();
  std::vector<std::string> curves;
  for (const auto& curve : machine.exchange)
    curves.push_back(fmt::format("{} among {} ranks: {} points ({})", curve.transport, curve.ranks, curve.points.size(),
                                 curve.source));
  std::string out = machine_text(machine, width).substr(1);
  out += fmt::format("  fitted to {}, {} GEMM shapes\n", cells_text(measurements.cells.size()), shapes);
  out += list_text("Exchange curves", curves, width);
  return out + list_text("Cells left out", measurements.skipped, width);
}

std::string validation_text(const simulation::Validation& validation, const simulation::Measurements& measurements,
                            std::size_t width) {
  std::string out = fmt::format(
      "Error of Delta, predicted by a machine that was fitted without it; percent of the baseline's time, {} "
      "measured\n",
      cells_text(measurements.cells.size()));
  for (const auto* held_out : {&validation.models, &validation.cps}) {
    if (held_out->empty()) continue;
    out += "\n" + errors_text(*held_out, width) + "\n" + confusion_text(*held_out, width);
  }
  out += list_text("Notes", validation.notes, width);
  return out + list_text("Cells left out", measurements.skipped, width);
}

}  // namespace megaup::cli
