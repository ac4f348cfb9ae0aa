#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/experiments/plan.hpp>
#include <megaup/experiments/utf8.hpp>

namespace megaup::experiments {
namespace {

constexpr std::size_t kShownCells = 200;    // a longer table is for programs: --format json has every cell
constexpr std::size_t kShownRefusals = 20;  // reasons, each with its first cell
constexpr std::size_t kShownModels = 40;
constexpr std::size_t kNamedBlocks = 8, kShownBlocks = 40;
constexpr std::size_t kColumns = 9;
using Row = std::array<std::string, kColumns>;

std::string bytes_text(double value) {
  constexpr std::array<std::string_view, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, units[unit]);
}

/// What a rank needs: a range, because it depends on the GEMM provider that the run finds fastest.
std::string memory_text(const Cell& cell) {
  const auto least = bytes_text(static_cast<double>(cell.least_bytes_per_rank));
  const auto most = bytes_text(static_cast<double>(cell.bytes_per_rank));
  return least == most ? most : fmt::format("{} to {}", least, most);
}

std::string seconds_text(double seconds) {
  if (seconds < 0.001) return "< 1 ms";
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string cells_text(std::int64_t n) { return fmt::format("{} cell{}", n, n == 1 ? "" : "s"); }

std::string rules_text(const Plan& plan) {
  std::string out;
  for (const RuleCount& rule : plan.rules) {
    const bool removes = rule.rule.starts_with("exclude");
    out += fmt::format("  {:<12} line {:<5} {} {}", rule.rule, rule.line, removes ? "removes" : "adds",
                       cells_text(rule.cells));
    if (rule.duplicates > 0) out += fmt::format(", {} of them already there and dropped", rule.duplicates);
    if (removes && rule.cells == 0) out += ": it matches nothing";
    out += "\n";
  }
  return out;
}

/// The order of the blocks; of many only the letters.
std::string blocks_text(const Spec& spec) {
  const auto kinds = block_kinds(spec);
  const bool letters = kinds.size() > kNamedBlocks;
  std::string out;
  for (std::size_t i = 0; i < std::min(kinds.size(), kShownBlocks); ++i) {
    if (i > 0) out += letters ? " " : ", ";
    out += kinds[i] == 0 ? (letters ? "i" : "initial") : letters ? "r" : "reversed";
  }
  if (kinds.size() > kShownBlocks) out += " ...";
  if (letters) out += fmt::format(" ({} pairs; i initial, r reversed)", spec.measure.most_pairs());
  return out;
}

std::string protocol_text(const Plan& plan) {
  const Measure& m = plan.spec.measure;
  const bool turns = m.schedule == Schedule::interleaved;
  std::string out = fmt::format("Each cell\n  operations   {}\n  arms         {}\n",
                                fmt::join(plan.spec.operations, ", "), fmt::join(plan.spec.arms.all(), ", "));
  if (plan.spec.arms.control)
    out += fmt::format("               control is {} once more\n", plan.spec.arms.baselines.front());
  if (m.burn_in) out += "  burn-in      initial, reversed: not kept\n";
  out += fmt::format(
      "  blocks       {}\n               initial: for each operation, {}, as listed; reversed: the opposite order\n",
      blocks_text(plan.spec), turns ? "one observation of each arm in turn" : "each arm");
  if (m.stop)
    out += fmt::format("  stop         as soon as Delta is known to +- {} ms; these are the most pairs\n",
                       m.stop->half_width_s * 1e3);
  return out + fmt::format("  each timing  {} warm-ups, {} observations; {} cadence, {} cache; at most {} a cell\n",
                           m.warmup, m.observations, name(m.cadence), name(m.cache), seconds_text(m.cell_timeout_s));
}

std::string layout_text(const core::Problem& p) {
  return fmt::format("{}, {}, {}{}", core::name(p.format), core::name(p.order), core::name(p.qkv_weight),
                     p.kv_replication ? ", kv_replication" : "");
}

/// The models of the cells with their sizes, each once.
std::string models_text(const Plan& plan) {
  std::map<std::string_view, const core::Problem*> models;
  for (const Cell& cell : plan.cells) models.emplace(cell.model, &cell.problem);
  std::string out = "Models\n";
  std::size_t shown = 0;
  for (const auto& [model, p] : models) {
    if (shown++ == kShownModels) return out + fmt::format("  ... and {} more\n", models.size() - kShownModels);
    out +=
        fmt::format("  {:<20} hidden {}, query heads {}, KV heads {}, head dim {}\n", model, p->H, p->Hq, p->Hk, p->D);
  }
  return out;
}

Row row(const Cell& cell, double gflops) {
  const core::Problem& p = cell.problem;
  const bool runs = cell.refused.empty();
  return {cell.model, fmt::format("{}", p.P), cell.tokens_per_rank > 0 ? fmt::format("{}", cell.tokens_per_rank) : "-",
          fmt::format("{}", p.B), layout_text(p),
          // Large values: little data for much arithmetic, so little to hide. The same for all four operations.
          p.P > 1 ? fmt::format("{:.0f}",
                                static_cast<double>(p.H) * static_cast<double>(p.P) / static_cast<double>(p.P - 1))
                  : "-",
          runs ? memory_text(cell) : "-", runs ? seconds_text(cell.flop / (gflops * 1e9)) : "refused", cell.id};
}

/// Columns as wide as their widest entry, numbers to the right.
std::string aligned(const std::vector<Row>& rows) {
  std::array<std::size_t, kColumns> width{};
  for (const Row& r : rows)
    for (std::size_t c = 0; c < kColumns; ++c) width[c] = std::max(width[c], utf8_length(r[c]));
  std::string out;
  for (const Row& r : rows) {
    std::string line;
    for (std::size_t c = 0; c < kColumns; ++c) {
      const std::string blanks(width[c] - utf8_length(r[c]), ' ');
      const bool number = (c >= 1 && c <= 3) || (c >= 5 && c <= 7);
      if (width[c] > 0) line += number ? fmt::format("  {}{}", blanks, r[c]) : fmt::format("  {}{}", r[c], blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string cells_table(const Plan& plan, double gflops) {
  std::vector<Row> rows{
      {"model", "cp", "tokens/rank", "batch", "layout", "FLOP/link byte", "memory/rank", "time", "cell"}};
  for (std::size_t i = 0; i < std::min(plan.cells.size(), kShownCells); ++i) rows.push_back(row(plan.cells[i], gflops));
  const std::string layout = layout_text(plan.cells.front().problem);
  const bool same =
      std::ranges::all_of(plan.cells, [&](const Cell& cell) { return layout_text(cell.problem) == layout; });
  if (same)
    for (Row& r : rows) r[4].clear();  // said once, below
  std::string out = "Cells\n" + aligned(rows);
  if (same) out += fmt::format("  all of them {}\n", layout);
  if (plan.cells.size() > kShownCells)
    out += fmt::format("  ... and {} more: --format json lists all\n", plan.cells.size() - kShownCells);
  return out;
}

std::string refusals_text(const Plan& plan) {
  if (plan.n_refused == 0) return {};
  std::map<std::string, std::vector<const Cell*>> by_reason;
  for (const Cell& cell : plan.cells)
    if (!cell.refused.empty()) by_reason[cell.refused].push_back(&cell);
  std::string out = fmt::format("\nRefused: {}\n", cells_text(plan.n_refused));
  std::size_t shown = 0;
  for (const auto& [reason, cells] : by_reason) {
    if (shown++ == kShownRefusals) {
      out += fmt::format("  ... and {} more reasons: --format json lists all\n", by_reason.size() - kShownRefusals);
      break;
    }
    out += fmt::format("  {}\n    {}", reason, cells.front()->id);
    out += cells.size() > 1 ? fmt::format(" and {} more\n", cells.size() - 1) : "\n";
  }
  return out;
}

/// What the whole plan takes.
std::string totals_text(const Plan& plan, double gflops) {
  double flop = 0, rank_bytes = 0, cell_bytes = 0;
  std::int64_t ranks = 0;
  for (const Cell& cell : plan.cells) {
    if (!cell.refused.empty()) continue;
    flop += cell.flop;
    ranks = std::max(ranks, cell.problem.P);
    const double bytes = static_cast<double>(cell.bytes_per_rank);
    rank_bytes = std::max(rank_bytes, bytes);
    cell_bytes = std::max(cell_bytes, bytes * static_cast<double>(cell.problem.P));
  }
  return fmt::format(
      "\nAt most {} ranks, {} of memory on one and {} on all of a cell.\nTime {}: an estimate from the GEMMs alone, if "
      "this machine does {:.0f} GFLOP/s (--gflops); checks and exchanges come on top.\n",
      ranks, bytes_text(rank_bytes), bytes_text(cell_bytes), seconds_text(flop / (gflops * 1e9)), gflops);
}

}  // namespace

std::string plan_table(const Plan& plan, double gflops) {
  return fmt::format("{}: {}, {} to run, {} refused\n{}\n{}\n{}\n{}{}{}Plan {}\n", plan.spec.name,
                     cells_text(static_cast<std::int64_t>(plan.cells.size())), plan.n_runnable, plan.n_refused,
                     rules_text(plan), models_text(plan), protocol_text(plan), cells_table(plan, gflops),
                     refusals_text(plan), plan.n_runnable > 0 ? totals_text(plan, gflops) : "\n", plan.hash);
}

}  // namespace megaup::experiments
