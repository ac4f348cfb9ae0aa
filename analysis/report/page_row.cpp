#include <megaup/analysis/report/page_row.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <megaup/analysis/number.hpp>
#include <megaup/analysis/report/page_facts.hpp>

namespace megaup::analysis {
namespace {

using Json = nlohmann::ordered_json;

Json pair_of(double ms, std::string text) { return Json::array({ms, std::move(text)}); }

/// Times of one operation of both arms: [arm, block, observation].
std::span<const float> observations_of(const Details& details, std::size_t op) {
  const std::size_t size = 2 * details.order.size() * static_cast<std::size_t>(details.observations);
  if (details.maxima_ms.size() < (op + 1) * size) return {};
  return std::span(details.maxima_ms).subspan(op * size, size);
}

Json operation_json(const Row& row, std::size_t index) {
  const OperationRow& operation = row.operations[index];
  const int decimals = decimals_of(operation.baseline_ms);
  Json numbers = {time_text(operation.baseline_ms, decimals), time_text(operation.candidate_ms, decimals),
                  difference_text(operation.delta_ms, decimals)};
  for (const auto& bound : {operation.gemm_ms, operation.exchange_ms, operation.reorder_ms, operation.floor_ms})
    numbers.push_back(bound ? Json(time_text(*bound, decimals)) : Json(nullptr));
  numbers.push_back(operation.realised ? Json(fmt::format("{:.0f}", 100 * *operation.realised)) : Json(nullptr));
  Json json{{"name", operation.operation}, {"numbers", std::move(numbers)}};
  if (row.details)
    if (const auto times = observations_of(*row.details, index); !times.empty()) {
      const auto [low, high] = std::minmax_element(times.begin(), times.end());
      json["low"] = time_text(*low, decimals);
      json["high"] = time_text(*high, decimals);
    }
  return json;
}

Json blocks_json(const Details& details) {
  std::string order;
  for (const std::uint8_t block : details.order) order += static_cast<char>('0' + block);
  Json raw = Json::array();
  for (std::size_t op = 0; op < kOperations.size(); ++op) {
    const auto times = observations_of(details, op);
    raw.push_back(observation_text(times.data(), times.data() + times.size()));
  }
  return {{"order", order}, {"observations", details.observations}, {"raw", std::move(raw)}};
}

Json stragglers_json(const Row& row) {
  const auto& [baseline, candidate] = row.details->stragglers;
  Json rows = Json::array();
  for (std::size_t rank = 0; rank < std::min(baseline.size(), candidate.size()); ++rank) {
    Json texts = {fmt::format("{}", baseline[rank].rank)};
    for (const Straggler& straggler : {baseline[rank], candidate[rank]}) {
      texts.push_back(fmt::format("{:.0f}", 100 * straggler.slowest_share));
      texts.push_back(fmt::format("{:+.2f}", 100 * straggler.lag));
    }
    rows.push_back(std::move(texts));
  }
  return {{"title", "Ranks: how often each was the slowest, and its lag behind the mean of the ranks"},
          {"columns", {"rank", row.baseline + " slowest, %", "lag, %", row.candidate + " slowest, %", "lag, %"}},
          {"rows", std::move(rows)}};
}

void add_delta(const Row& row, Json& json) {
  const int decimals = decimals_of(row.delta->baseline_ms);
  const auto difference = [&](double ms) { return pair_of(ms, difference_text(ms, decimals)); };
  const double delta = row.delta->delta_ms;
  json["decimals"] = decimals;
  json["delta"] = difference(delta);
  json["baseline"] = time_text(row.delta->baseline_ms, decimals);
  json["candidate_time"] = time_text(row.delta->candidate_ms, decimals);
  json["words"] = fmt::format("{} {}", delta > 0 ? "saves" : "costs", size_text(delta, decimals));
  if (const auto possible = possible_ms(row)) {
    json["possible"] = difference(*possible);
    json["realised"] = pair_of(*realised(row), fmt::format("{:.0f}", 100 * *realised(row)));
  }
  const Conclusion& conclusion = row.conclusion;
  if (conclusion.interval_ms) {
    json["interval"] = {difference(conclusion.interval_ms->low), difference(conclusion.interval_ms->high)};
    json["safe"] = difference(*conclusion.h_safe_ms);
  }
  if (conclusion.resolution_ms) json["resolution"] = difference(*conclusion.resolution_ms);
}

std::string why(const Row& row) {
  if (!row.delta) return row.reason;
  if (row.conclusion.verdict) return row.conclusion.verdict->reason;
  return fmt::format("no verdict: {} of at least {} blocks", row.statistics.blocks, kLeastBlocks);
}

}  // namespace

std::string observation_text(const float* first, const float* last) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  constexpr double kSteps = 4095;  // two digits of 64
  std::string text;
  if (first == last) return text;
  const auto [low, high] = std::minmax_element(first, last);
  const double scale = *high > *low ? kSteps / (static_cast<double>(*high) - *low) : 0;
  for (const float* time = first; time != last; ++time) {
    const auto step = static_cast<std::size_t>(std::lround((static_cast<double>(*time) - *low) * scale));
    text += kDigits[step / 64];
    text += kDigits[step % 64];
  }
  return text;
}

std::string page_row(const Row& row, std::size_t file) {
  Json json{{"file", file},         {"cell", row.cell},           {"model", row.model},
            {"cp", row.cp},         {"m", row.tokens_per_rank},   {"source", row.source},
            {"fabric", row.fabric}, {"status", row.status},       {"reason", row.reason},
            {"base", row.baseline}, {"candidate", row.candidate}, {"why", why(row)}};
  if (row.conclusion.verdict) json["verdict"] = name(row.conclusion.verdict->kind);
  if (row.delta) add_delta(row, json);
  json["marks"] = Json::array();
  for (const Warning& warning : row.warnings)
    if (!warning.mark.empty() && (json["marks"].empty() || json["marks"].back() != warning.mark))
      json["marks"].push_back(warning.mark);
  json["operations"] = Json::array();
  for (std::size_t op = 0; op < row.operations.size(); ++op) json["operations"].push_back(operation_json(row, op));
  json["facts"] = page_facts(row);
  if (row.details && !row.details->maxima_ms.empty()) json["blocks"] = blocks_json(*row.details);
  if (row.details && !row.details->stragglers[0].empty()) json["table"] = stragglers_json(row);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace megaup::analysis
