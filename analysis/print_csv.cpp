#include <iterator>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include <megaup/analysis/print.hpp>
#include <megaup/analysis/text.hpp>
#include <megaup/core/text.hpp>

namespace megaup::analysis {
namespace {

/// One line; the comma goes in front of every field but the first.
class Record {
 public:
  explicit Record(std::string& out) : out_(out) {}

  void text(std::string_view given) {
    separate();
    std::string safe = printable(given);
    if (!safe.empty() && std::string_view("=+-@").find(safe.front()) != std::string_view::npos) safe.insert(0, 1, '\'');
    if (safe.find_first_of(",\"") == std::string::npos) {
      out_ += safe;
      return;
    }
    out_ += '"';
    for (const char character : safe) out_.append(character == '"' ? 2 : 1, character);
    out_ += '"';
  }

  void count(std::int64_t value) {
    separate();
    fmt::format_to(std::back_inserter(out_), "{}", value);
  }

  void number(const std::optional<double>& value) {
    separate();
    if (value) out_ += core::number(*value);
  }

 private:
  void separate() {
    if (!first_) out_ += ',';
    first_ = false;
  }

  std::string& out_;
  bool first_ = true;
};

void add_titles(const Assumptions& assumptions, std::string& out) {
  Record record(out);
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
  out += '\n';
}

void add_operations(const Row& row, Record& record) {
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

void add_row(const Row& row, const Assumptions& assumptions, std::string& out) {
  Record record(out);
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
