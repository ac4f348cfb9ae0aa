#include <optional>

#include <nlohmann/json.hpp>

#include <megaup/analysis/print.hpp>

namespace megaup::analysis {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "megaup-analysis";
constexpr const char* kFormatVersion = "1.0.0";

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json operation_json(const OperationRow& operation) {
  return {{"operation", operation.operation},           {"baseline_ms", operation.baseline_ms},
          {"candidate_ms", operation.candidate_ms},     {"delta_ms", operation.delta_ms},
          {"gemm_ms", number(operation.gemm_ms)},       {"exchange_ms", number(operation.exchange_ms)},
          {"reorder_ms", number(operation.reorder_ms)}, {"floor_ms", number(operation.floor_ms)},
          {"realised", number(operation.realised)}};
}

Json list_of(const Interval& interval) { return Json::array({interval.low, interval.high}); }

Json trend_json(const std::optional<Trend>& trend) {
  if (!trend) return nullptr;
  return {{"slope_ms", trend->slope_ms}, {"per", trend->per_minute ? "minute" : "block"}, {"p", trend->p}};
}

/// What needs kLeastBlocks blocks; null below.
void add_conclusion(const Row& row, Json& json) {
  const Conclusion& found = row.conclusion;
  json["blocks"] = row.statistics.blocks;
  json["interval_ms"] = found.interval_ms ? list_of(*found.interval_ms) : Json(nullptr);
  json["confidence"] = found.interval_ms ? Json(row.statistics.confidence) : Json(nullptr);
  json["h_safe_ms"] = number(found.h_safe_ms);
  json["verdict"] = found.verdict ? Json(name(found.verdict->kind)) : Json(nullptr);
  json["verdict_reason"] = found.verdict ? Json(found.verdict->reason) : Json(nullptr);
  json["more_blocks"] = found.verdict && found.verdict->more_blocks ? Json(*found.verdict->more_blocks) : Json(nullptr);
  json["resolution_ms"] = number(found.resolution_ms);
  json["order_effect"] = nullptr;
  json["drift"] = nullptr;
  json["sign_flip_p"] = nullptr;
  if (!found.interval_ms) return;
  json["sign_flip_p"] = row.statistics.sign_flip_p;
  const OrderEffect& order = *found.order_effect;
  json["order_effect"] = {
      {"effect_ms", order.effect}, {"interval_ms", list_of(order.interval)}, {"matters", order.matters}};
  json["drift"] = {{"baseline", trend_json(row.statistics.baseline)},
                   {"candidate", trend_json(row.statistics.candidate)}};
}

Json side_json(const Details& details, std::size_t side) {
  Json ranks = Json::array();
  for (const Straggler& straggler : details.stragglers[side])
    ranks.push_back({{"rank", straggler.rank}, {"slowest", straggler.slowest_share}, {"lag", straggler.lag}});
  Json json{{"outliers", {{"mild", details.outliers[side].mild}, {"severe", details.outliers[side].severe}}},
            {"ranks", std::move(ranks)}};
  json["additivity"] = nullptr;
  if (const auto& found = details.additivity[side])
    json["additivity"] = {{"sum_ms", found->sum_ms}, {"sequence_ms", found->sequence_ms}};
  return json;
}

Json row_json(const Row& row, const Assumptions& assumptions) {
  const auto part = [&](double Delta::*member) { return row.delta ? Json((*row.delta).*member) : Json(nullptr); };
  Json json{{"file", row.file},
            {"cell", row.cell},
            {"model", row.model},
            {"cp", row.cp},
            {"tokens_per_rank", row.tokens_per_rank},
            {"source", row.source},
            {"fabric", row.fabric},
            {"status", row.status},
            {"reason", row.reason},
            {"baseline", row.baseline},
            {"candidate", row.candidate},
            {"delta_ms", part(&Delta::delta_ms)},
            {"budget_ms", number(budget_ms(row))}};
  json["order_delta_ms"] = {{"initial", part(&Delta::initial_ms)}, {"reversed", part(&Delta::reversed_ms)}};
  add_conclusion(row, json);
  json["possible_ms"] = number(possible_ms(row));
  json["realised"] = number(realised(row));
  json["operations"] = Json::array();
  for (const OperationRow& operation : row.operations) json["operations"].push_back(operation_json(operation));
  if (row.details) {
    json["rank_mean_delta_ms"] = number(row.details->rank_mean_delta_ms);
    json["arms"] = {{"baseline", side_json(*row.details, 0)}, {"candidate", side_json(*row.details, 1)}};
  }
  if (assumptions.h_ms) {
    const auto saving = saving_ms(row, assumptions);
    json["h_ms"] = *assumptions.h_ms;
    json["saving_ms"] = number(saving);
    json["benefit"] = saving ? Json(*saving > 0) : Json(nullptr);
  }
  if (assumptions.step_ms || assumptions.unchanged_ms) {
    json["step_percent"] = number(step_percent(row, assumptions));
    json["step_percent_base"] = percent_base(assumptions);
  }
  return json;
}

/// Bytes that are not UTF-8 become U+FFFD: a bad name must not cost the numbers.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// A list, one entry a line, written as it is made: ten thousand rows never stand in memory as a tree.
template <class Entries, class ToJson>
std::string lines_of(const Entries& entries, ToJson&& to_json) {
  std::string out = "[";
  for (const auto& entry : entries) {
    out += out.size() == 1 ? "\n  " : ",\n  ";
    out += text_of(to_json(entry));
  }
  return out + (entries.empty() ? "]" : "\n ]");
}

}  // namespace

std::string print_json(const Analysis& analysis) {
  const auto rows = lines_of(analysis.rows, [&](const Row& row) { return row_json(row, analysis.assumptions); });
  const auto texts = lines_of(notes(analysis), [](const std::string& note) { return Json(note); });
  return "{\"format\": " + text_of(Json(kFormat)) + ", \"format_version\": " + text_of(Json(kFormatVersion)) +
         ",\n \"rows\": " + rows + ",\n \"notes\": " + texts + "}\n";
}

}  // namespace megaup::analysis
