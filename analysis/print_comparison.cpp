#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <megaup/analysis/comparison.hpp>
#include <megaup/analysis/grid.hpp>
#include <megaup/analysis/number.hpp>
#include <megaup/analysis/text.hpp>

namespace megaup::analysis {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> marking(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const EnvironmentDifference& difference : comparison.environment)
    if (difference.marks) names.push_back(difference.name);
  return names;
}

Grid environment_grid(const Comparison& comparison) {
  Grid grid;
  grid.columns = {{"differs"}, {"A"}, {"B"}};
  for (const EnvironmentDifference& difference : comparison.environment)
    grid.rows.push_back({difference.name + (difference.marks ? " *" : ""), difference.a.empty() ? "-" : difference.a,
                         difference.b.empty() ? "-" : difference.b});
  return grid;
}

std::string_view words(const Change& change) {
  if (change.a.source == "simulated" || change.b.source == "simulated") return "no interval: a side is simulated";
  if (!change.interval_ms) return "no interval: both sides need 4 blocks";
  if (change.interval_ms->low > 0) return "B saves more";
  if (change.interval_ms->high < 0) return "B saves less";
  return "not told apart";
}

Grid change_grid(const Comparison& comparison) {
  Grid grid;
  grid.columns = {{"model"},          {"CP", true},         {"M", true},
                  {"baseline"},       {"Delta A ms", true}, {"Delta B ms", true},
                  {"B - A ms", true}, {"95 % interval ms"}, {"change"}};
  for (const Change& change : comparison.changes) {
    const int decimals = std::min(decimals_of(change.a.delta->baseline_ms), decimals_of(change.b.delta->baseline_ms));
    const auto text = [&](double ms) { return difference_text(ms, decimals); };
    grid.rows.push_back(
        {change.a.model, fmt::format("{}", change.a.cp), fmt::format("{}", change.a.tokens_per_rank), change.a.baseline,
         text(change.a.delta->delta_ms), text(change.b.delta->delta_ms), text(change.change_ms),
         change.interval_ms ? fmt::format("{} to {}", text(change.interval_ms->low), text(change.interval_ms->high))
                            : "-",
         std::string(words(change))});
  }
  return grid;
}

}  // namespace

std::string print_comparison(const Comparison& comparison, std::size_t width) {
  std::string out = fmt::format("A: {}\nB: {}\n\n", printable(comparison.path_a), printable(comparison.path_b));
  if (comparison.environment.empty())
    out += "No difference in what the files say about machine, program and spec.\n";
  else
    out += text_of(environment_grid(comparison), width);
  if (const auto names = marking(comparison); !names.empty())
    out +=
        fmt::format("\n* times depend on it. {} changed, so a change of Delta may be the machine's, not the code's.\n",
                    fmt::join(names, ", "));
  if (!comparison.changes.empty()) out += '\n' + text_of(change_grid(comparison), width);
  if (!comparison.unpaired.empty()) out += '\n';
  for (const std::string& line : comparison.unpaired) out += "not compared: " + printable(line) + '\n';
  return out;
}

std::string print_comparison_json(const Comparison& comparison) {
  Json json{
      {"format", "megaup-comparison"}, {"format_version", "1.0.0"}, {"a", comparison.path_a}, {"b", comparison.path_b}};
  json["environment"] = Json::array();
  for (const EnvironmentDifference& difference : comparison.environment)
    json["environment"].push_back(
        {{"name", difference.name}, {"a", difference.a}, {"b", difference.b}, {"marks", difference.marks}});
  json["marked"] = !marking(comparison).empty();
  json["rows"] = Json::array();
  for (const Change& change : comparison.changes)
    json["rows"].push_back(
        {{"model", change.a.model},
         {"cp", change.a.cp},
         {"tokens_per_rank", change.a.tokens_per_rank},
         {"baseline", change.a.baseline},
         {"candidate", change.a.candidate},
         {"delta_a_ms", change.a.delta->delta_ms},
         {"delta_b_ms", change.b.delta->delta_ms},
         {"change_ms", change.change_ms},
         {"interval_ms",
          change.interval_ms ? Json::array({change.interval_ms->low, change.interval_ms->high}) : Json(nullptr)},
         {"change", words(change)}});
  json["unpaired"] = comparison.unpaired;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace megaup::analysis
