#include <optional>
#include <string_view>

#include <fmt/format.h>

#include <megaup/analysis/csv_line.hpp>
#include <megaup/analysis/print.hpp>

namespace megaup::analysis {
namespace {

void add_titles(const Assumptions& assumptions, std::string& out) {
  CsvLine record(out);
  for (const char* title : {"file", "cell", "model", "cp", "tokens_per_rank", "source", "fabric", "status", "reason",
                            "baseline", "candidate", "baseline_ms", "candidate_ms", "delta_ms", "budget_ms",
                            "order_delta_initial_ms", "order_delta_reversed_ms"})
    record.text(title);
  for (const std::string_view operation : kOperations)
    for (const char* title :
         {"baseline_ms", "candidate_ms", "delta_ms", "gemm_ms", "exchange_ms", "reorder_ms", "floor_ms", "realised"})
      record.text(fmt::format("{}_{}", operation, title));
  if (assumptions.h_ms)
    for (const char* title : {"h_ms", "saving_ms", "benefit"}) record.text(title);
  if (assumptions.step_ms || assumptions.unchanged_ms)
    for (const char* title : {"step_percent", "step_percent_base"}) record.text(title);
  for (const char* title :
       {"blocks", "interval_low_ms", "interval_high_ms", "h_safe_ms", "resolution_ms", "verdict", "verdict_reason"})
    record.text(title);
  out += '\n';
}

void add_operations(const Row& row, CsvLine& record) {
  auto next = row.operations.begin();
  for (const std::string_view operation : kOperations) {
    if (next == row.operations.end() || next->operation != operation) {
      for (int field = 0; field < 8; ++field) record.text("");
      continue;
    }
    for (const std::optional<double>& value :
         {std::optional(next->baseline_ms), std::optional(next->candidate_ms), std::optional(next->delta_ms),
          next->gemm_ms, next->exchange_ms, next->reorder_ms, next->floor_ms, next->realised})
      record.number(value);
    ++next;
  }
}

void add_conclusion(const Row& row, CsvLine& record) {
  const Conclusion& found = row.conclusion;
  record.count(row.statistics.blocks);
  record.number(found.interval_ms ? std::optional(found.interval_ms->low) : std::nullopt);
  record.number(found.interval_ms ? std::optional(found.interval_ms->high) : std::nullopt);
  record.number(found.h_safe_ms);
  record.number(found.resolution_ms);
  record.text(found.verdict ? name(found.verdict->kind) : "");
  record.text(found.verdict ? found.verdict->reason : "");
}

void add_row(const Row& row, const Assumptions& assumptions, std::string& out) {
  CsvLine record(out);
  for (const std::string* text : {&row.file, &row.cell, &row.model}) record.text(*text);
  record.count(row.cp);
  record.count(row.tokens_per_rank);
  for (const std::string* text : {&row.source, &row.fabric, &row.status, &row.reason, &row.baseline, &row.candidate})
    record.text(*text);
  for (double Delta::*member : {&Delta::baseline_ms, &Delta::candidate_ms, &Delta::delta_ms})
    record.number(row.delta ? std::optional((*row.delta).*member) : std::nullopt);
  record.number(budget_ms(row));
  for (double Delta::*member : {&Delta::initial_ms, &Delta::reversed_ms})
    record.number(row.delta ? std::optional((*row.delta).*member) : std::nullopt);
  add_operations(row, record);
  if (assumptions.h_ms) {
    const auto saving = saving_ms(row, assumptions);
    record.number(assumptions.h_ms);
    record.number(saving);
    record.text(!saving ? "" : *saving > 0 ? "yes" : "no");
  }
  if (assumptions.step_ms || assumptions.unchanged_ms) {
    record.number(step_percent(row, assumptions));
    record.text(percent_base(assumptions));
  }
  add_conclusion(row, record);
  out += '\n';
}

}  // namespace

std::string print_csv(const Analysis& analysis) {
  std::string out;
  add_titles(analysis.assumptions, out);
  for (const Row& row : analysis.rows) add_row(row, analysis.assumptions, out);
  return out;
}

}  // namespace megaup::analysis
