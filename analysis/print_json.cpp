#include <optional>

#include <megaup/analysis/json_text.hpp>
#include <megaup/analysis/print.hpp>

namespace megaup::analysis {
namespace {

constexpr const char* kFormat = "megaup-analysis";
constexpr const char* kFormatVersion = "1.0.0";

void add(JsonText& out, const OperationRow& operation) {
  out.open('{');
  out.field("operation", operation.operation);
  out.field("baseline_ms", operation.baseline_ms);
  out.field("candidate_ms", operation.candidate_ms);
  out.field("delta_ms", operation.delta_ms);
  out.field("gemm_ms", operation.gemm_ms);
  out.field("exchange_ms", operation.exchange_ms);
  out.field("reorder_ms", operation.reorder_ms);
  out.field("floor_ms", operation.floor_ms);
  out.field("realised", operation.realised);
  out.close('}');
}

void add(JsonText& out, const std::optional<Interval>& interval) {
  if (!interval) return out.put(nullptr);
  out.open('[');
  out.put(interval->low);
  out.put(interval->high);
  out.close(']');
}

void add(JsonText& out, const std::optional<Trend>& trend) {
  if (!trend) return out.put(nullptr);
  out.open('{');
  out.field("slope_ms", trend->slope_ms);
  out.field("per", trend->per_minute ? "minute" : "block");
  out.field("p", trend->p);
  out.close('}');
}

void add(JsonText& out, const OrderEffect& order) {
  out.open('{');
  out.field("effect_ms", order.effect);
  out.key("interval_ms");
  add(out, std::optional(order.interval));
  out.field("matters", order.matters);
  out.close('}');
}

/// What needs kLeastBlocks blocks; null below.
void add_conclusion(JsonText& out, const Row& row) {
  const Conclusion& found = row.conclusion;
  const bool judged = found.interval_ms.has_value();
  out.field("blocks", row.statistics.blocks);
  out.key("interval_ms");
  add(out, found.interval_ms);
  out.field("confidence", judged ? std::optional(row.statistics.confidence) : std::nullopt);
  out.field("h_safe_ms", found.h_safe_ms);
  const auto& verdict = found.verdict;
  out.field("verdict", verdict ? std::optional(name(verdict->kind)) : std::nullopt);
  out.field("verdict_reason", verdict ? std::optional(verdict->reason) : std::nullopt);
  out.field("more_blocks", verdict ? verdict->more_blocks : std::nullopt);
  out.field("resolution_ms", found.resolution_ms);
  out.key("order_effect");
  if (judged)
    add(out, *found.order_effect);
  else
    out.put(nullptr);
  out.key("drift");
  if (judged) {
    out.open('{');
    out.key("baseline");
    add(out, row.statistics.baseline);
    out.key("candidate");
    add(out, row.statistics.candidate);
    out.close('}');
  } else {
    out.put(nullptr);
  }
  out.key("sign_flip_p");
  if (judged)
    out.put(row.statistics.sign_flip_p);
  else
    out.put(nullptr);
}

void add_side(JsonText& out, const Details& details, std::size_t side) {
  out.open('{');
  out.key("outliers");
  out.open('{');
  out.field("mild", details.outliers[side].mild);
  out.field("severe", details.outliers[side].severe);
  out.close('}');
  out.key("ranks");
  out.open('[');
  for (const Straggler& straggler : details.stragglers[side]) {
    out.open('{');
    out.field("rank", straggler.rank);
    out.field("slowest", straggler.slowest_share);
    out.field("lag", straggler.lag);
    out.close('}');
  }
  out.close(']');
  out.key("additivity");
  if (const auto& found = details.additivity[side]) {
    out.open('{');
    out.field("sum_ms", found->sum_ms);
    out.field("sequence_ms", found->sequence_ms);
    out.close('}');
  } else {
    out.put(nullptr);
  }
  out.close('}');
}

void add_details(JsonText& out, const Details& details) {
  out.field("rank_mean_delta_ms", details.rank_mean_delta_ms);
  out.key("arms");
  out.open('{');
  out.key("baseline");
  add_side(out, details, 0);
  out.key("candidate");
  add_side(out, details, 1);
  out.close('}');
}

void add_assumptions(JsonText& out, const Row& row, const Assumptions& assumptions) {
  if (assumptions.h_ms) {
    const auto saving = saving_ms(row, assumptions);
    out.field("h_ms", *assumptions.h_ms);
    out.field("saving_ms", saving);
    out.field("benefit", saving ? std::optional(*saving > 0) : std::nullopt);
  }
  if (assumptions.step_ms || assumptions.unchanged_ms) {
    out.field("step_percent", step_percent(row, assumptions));
    out.field("step_percent_base", percent_base(assumptions));
  }
}

void add(JsonText& out, const Row& row, const Assumptions& assumptions) {
  const auto part = [&](double Delta::*member) {
    return row.delta ? std::optional((*row.delta).*member) : std::nullopt;
  };
  out.open('{');
  out.field("file", row.file);
  out.field("cell", row.cell);
  out.field("model", row.model);
  out.field("cp", row.cp);
  out.field("tokens_per_rank", row.tokens_per_rank);
  out.field("source", row.source);
  out.field("fabric", row.fabric);
  out.field("status", row.status);
  out.field("reason", row.reason);
  out.field("baseline", row.baseline);
  out.field("candidate", row.candidate);
  out.field("delta_ms", part(&Delta::delta_ms));
  out.field("budget_ms", budget_ms(row));
  out.key("order_delta_ms");
  out.open('{');
  out.field("initial", part(&Delta::initial_ms));
  out.field("reversed", part(&Delta::reversed_ms));
  out.close('}');
  add_conclusion(out, row);
  out.field("possible_ms", possible_ms(row));
  out.field("realised", realised(row));
  out.key("operations");
  out.open('[');
  for (const OperationRow& operation : row.operations) add(out, operation);
  out.close(']');
  if (row.details) add_details(out, *row.details);
  add_assumptions(out, row, assumptions);
  out.close('}');
}

/// A list, one entry a line.
template <class Entries, class Add>
void add_lines(std::string& out, const Entries& entries, const Add& add_entry) {
  out += '[';
  bool first = true;
  for (const auto& entry : entries) {
    out += first ? "\n  " : ",\n  ";
    first = false;
    JsonText line(out);
    add_entry(line, entry);
  }
  out += first ? "]" : "\n ]";
}

}  // namespace

std::string print_json(const Analysis& analysis) {
  std::string out = "{\"format\": \"";
  (out += kFormat) += "\", \"format_version\": \"";
  (out += kFormatVersion) += "\",\n \"rows\": ";
  add_lines(out, analysis.rows, [&](JsonText& line, const Row& row) { add(line, row, analysis.assumptions); });
  out += ",\n \"notes\": ";
  add_lines(out, notes(analysis), [](JsonText& line, const std::string& note) { line.put(note); });
  return out + "}\n";
}

}  // namespace megaup::analysis
