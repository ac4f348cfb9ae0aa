#include <megaup/analysis/grids.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include <megaup/analysis/number.hpp>

namespace megaup::analysis {
namespace {

/// Which of the naming columns are needed to tell the rows apart, and what the time columns are called.
struct Naming {
  bool file = false, cell = false, baseline = false, candidate = false;
  std::string baseline_title = "baseline", candidate_title = "candidate";
};

template <class Value>
bool differs(const std::vector<Row>& rows, Value&& value) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return value(row) != value(rows.front()); });
}

Naming naming_of(const std::vector<Row>& rows) {
  Naming naming;
  if (rows.empty()) return naming;
  naming.file = differs(rows, [](const Row& row) { return row.file; });
  naming.baseline = differs(rows, [](const Row& row) { return row.baseline; });
  naming.candidate = differs(rows, [](const Row& row) { return row.candidate; });
  if (!naming.baseline) naming.baseline_title = rows.front().baseline;
  if (!naming.candidate) naming.candidate_title = rows.front().candidate;
  using Name = std::string_view;
  std::set<std::tuple<Name, Name, std::int64_t, std::int64_t, Name, Name>> seen;
  for (const Row& row : rows)
    naming.cell = naming.cell ||
                  !seen.insert({row.file, row.model, row.cp, row.tokens_per_rank, row.baseline, row.candidate}).second;
  return naming;
}

void add_naming_columns(const Naming& naming, Grid& grid) {
  if (naming.file) grid.columns.push_back({"file"});
  grid.columns.push_back({"model"});
  grid.columns.push_back({"CP", true});
  grid.columns.push_back({"M", true});
  if (naming.cell) grid.columns.push_back({"cell"});
  grid.columns.push_back({"fabric"});
  if (naming.baseline) grid.columns.push_back({"baseline"});
  if (naming.candidate) grid.columns.push_back({"candidate"});
}

std::vector<std::string> naming_texts(const Naming& naming, const Row& row) {
  std::vector<std::string> texts;
  if (naming.file) texts.push_back(row.file);
  texts.push_back(row.model);
  texts.push_back(fmt::format("{}", row.cp));
  texts.push_back(fmt::format("{}", row.tokens_per_rank));
  if (naming.cell) texts.push_back(row.cell);
  texts.push_back(row.source == "measured" ? row.fabric : fmt::format("{} {}", row.source, row.fabric));
  if (naming.baseline) texts.push_back(row.baseline);
  if (naming.candidate) texts.push_back(row.candidate);
  return texts;
}

std::string optional_time(const std::optional<double>& ms, int decimals) { return ms ? time_text(*ms, decimals) : "-"; }

bool any_interval(const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.conclusion.interval_ms.has_value(); });
}

std::string verdict_text(const Row& row) {
  const auto& verdict = row.conclusion.verdict;
  if (!verdict) return fmt::format("none: needs {} blocks", kLeastBlocks);
  std::string text(name(verdict->kind));
  if (verdict->more_blocks) text += fmt::format(": about {} more blocks", *verdict->more_blocks);
  return text;
}

/// Interval, h_safe and verdict: only in tables where some row has an interval.
void add_conclusion_texts(const Row& row, int decimals, std::vector<std::string>& texts) {
  const Conclusion& found = row.conclusion;
  texts.push_back(found.interval_ms ? fmt::format("{} to {}", difference_text(found.interval_ms->low, decimals),
                                                  difference_text(found.interval_ms->high, decimals))
                                    : "-");
  texts.push_back(!found.h_safe_ms       ? "-"
                  : *found.h_safe_ms > 0 ? difference_text(*found.h_safe_ms, decimals).substr(1)
                                         : "none");
  texts.push_back(verdict_text(row));
}

void add_delta_texts(const Row& row, const Assumptions& assumptions, bool judged, std::vector<std::string>& texts) {
  const int decimals = row.delta ? decimals_of(row.delta->baseline_ms) : 0;
  texts.push_back(row.delta ? time_text(row.delta->baseline_ms, decimals) : "-");
  texts.push_back(row.delta ? time_text(row.delta->candidate_ms, decimals) : "-");
  texts.push_back(row.delta ? difference_text(row.delta->delta_ms, decimals) : "-");
  if (judged) add_conclusion_texts(row, decimals, texts);
  if (assumptions.h_ms) {
    const auto saving = saving_ms(row, assumptions);
    texts.push_back(saving ? difference_text(*saving, decimals) : "-");
    texts.emplace_back(!saving ? "-" : *saving > 0 ? "yes" : "no");
  }
  if (assumptions.step_ms || assumptions.unchanged_ms) {
    const auto percent = step_percent(row, assumptions);
    texts.push_back(percent ? difference_text(*percent, 2) : "-");
  }
}

}  // namespace

std::string budget_text(const Row& row) {
  if (!row.delta) return fmt::format("{}: {}", row.status, row.reason);
  const std::string size = size_text(row.delta->delta_ms, decimals_of(row.delta->baseline_ms));
  std::string text = budget_ms(row) ? size : fmt::format("none: {} costs {}", row.candidate, size);
  std::string_view last;
  for (const Warning& warning : row.warnings) {
    if (!warning.mark.empty() && warning.mark != last) text += fmt::format("; {}", warning.mark);
    last = warning.mark;
  }
  return text;
}

Grid headline(const Analysis& analysis) {
  const Naming naming = naming_of(analysis.rows);
  const Assumptions& assumptions = analysis.assumptions;
  Grid grid;
  add_naming_columns(naming, grid);
  grid.columns.push_back({naming.baseline_title + " ms", true});
  grid.columns.push_back({naming.candidate_title + " ms", true});
  grid.columns.push_back({"Delta ms", true});
  const bool judged = any_interval(analysis.rows);
  if (judged) {
    grid.columns.push_back({"95 % interval ms"});
    grid.columns.push_back({"h_safe ms", true});
    grid.columns.push_back({"verdict"});
  }
  if (assumptions.h_ms) {
    grid.columns.push_back({"Delta - h ms", true});
    grid.columns.push_back({"benefit"});
  }
  if (assumptions.step_ms) grid.columns.push_back({"% of step", true});
  if (assumptions.unchanged_ms) grid.columns.push_back({"% of assumed step", true});
  grid.columns.push_back({"budget for h"});
  for (const Row& row : analysis.rows) {
    auto texts = naming_texts(naming, row);
    add_delta_texts(row, assumptions, judged, texts);
    texts.push_back(budget_text(row));
    grid.rows.push_back(std::move(texts));
  }
  return grid;
}

Grid breakdown(const Analysis& analysis) {
  const Naming naming = naming_of(analysis.rows);
  bool bounds = false;
  for (const Row& row : analysis.rows)
    for (const OperationRow& operation : row.operations)
      bounds = bounds || operation.gemm_ms || operation.exchange_ms || operation.reorder_ms;

  Grid grid;
  add_naming_columns(naming, grid);
  grid.columns.push_back({"operation"});
  for (const std::string& title :
       {naming.baseline_title + " ms", naming.candidate_title + " ms", std::string("difference ms")})
    grid.columns.push_back({title, true});
  if (bounds)
    for (const char* title : {"GEMM ms", "exchange ms", "reorder ms", "floor ms", "realised %"})
      grid.columns.push_back({title, true});
  for (const Row& row : analysis.rows)
    for (const OperationRow& operation : row.operations) {
      const int decimals = decimals_of(operation.baseline_ms);
      auto texts = naming_texts(naming, row);
      texts.emplace_back(operation.operation);
      texts.push_back(time_text(operation.baseline_ms, decimals));
      texts.push_back(time_text(operation.candidate_ms, decimals));
      texts.push_back(difference_text(operation.delta_ms, decimals));
      if (bounds) {
        for (const auto& bound : {operation.gemm_ms, operation.exchange_ms, operation.reorder_ms, operation.floor_ms})
          texts.push_back(optional_time(bound, decimals));
        texts.push_back(operation.realised ? fmt::format("{:.0f}", 100 * *operation.realised) : "-");
      }
      grid.rows.push_back(std::move(texts));
    }
  return grid;
}

}  // namespace megaup::analysis
