#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <megaup/analysis/analysis.hpp>
#include <megaup/analysis/statistics_notes.hpp>

namespace megaup::analysis {
namespace {

void add_meaning(std::vector<std::string>& out) {
  out.emplace_back(
      "Delta is the sum over the four operations of (baseline - candidate). Each time is the mean, over the initial "
      "and the reversed run order, "
      "of block medians of the slowest rank's latency. It is not a pooled raw-sample median, not a confidence "
      "interval, and not a measured "
      "attention step.");
  out.emplace_back(
      "It assumes that the remaining work is unchanged and that operation times add without overlap or interaction.");
  out.emplace_back(
      "A positive Delta is the break-even budget for h, the differential integration overhead (fused integration cost "
      "- native integration cost): "
      "the estimated saving is Delta - h, and there is a benefit only if h < Delta. A Delta of zero or less has no "
      "budget.");
}

void add_labels(const std::vector<Row>& rows, std::vector<std::string>& out) {
  const auto any = [&](auto&& holds) { return std::any_of(rows.begin(), rows.end(), holds); };
  if (any([](const Row& row) { return row.fabric == "emulated"; }))
    out.emplace_back(
        "emulated: several ranks shared one device, so the exchange went through that device's own memory; the time "
        "says nothing about a link.");
  if (any([](const Row& row) { return row.source == "simulated"; }))
    out.emplace_back("simulated: predicted from a machine description, not measured.");
}

void add_saving(const Analysis& analysis, std::vector<std::string>& out) {
  if (!analysis.assumptions.h_ms) return;
  std::size_t rows[2] = {0, 0}, benefits[2] = {0, 0};  // measured, simulated: they are counted apart
  for (const Row& row : analysis.rows)
    if (const auto saving = saving_ms(row, analysis.assumptions)) {
      const std::size_t kind = row.source == "simulated" ? 1 : 0;
      ++rows[kind];
      benefits[kind] += *saving > 0 ? 1 : 0;
    }
  std::string simulated;
  if (rows[1] > 0) simulated = fmt::format("; of {} simulated ones, {}", rows[1], benefits[1]);
  out.push_back(fmt::format("h = {} ms (given): {} of the {} measured rows with a Delta benefit (h < Delta){}.",
                            *analysis.assumptions.h_ms, benefits[0], rows[0], simulated));
}

void add_percent(const Analysis& analysis, std::vector<std::string>& out) {
  const Assumptions& assumptions = analysis.assumptions;
  if (!assumptions.step_ms && !assumptions.unchanged_ms) {
    out.emplace_back(
        "No percentage end to end: it needs a measured step (--step-ms) or an assumption about the unchanged work "
        "(--unchanged-ms).");
    return;
  }
  out.push_back(
      fmt::format("Percentages are {}, {}.", assumptions.h_ms ? "(Delta - h)" : "Delta", percent_base(assumptions)));
  for (const Row& row : analysis.rows)
    if (row.delta && !step_percent(row, assumptions))
      out.push_back(fmt::format("{}: no percentage: a step of {} ms cannot hold operations of {:.4g} ms", place(row),
                                *assumptions.step_ms, row.delta->baseline_ms));
}

}  // namespace

std::vector<std::string> notes(const Analysis& analysis) {
  std::vector<std::string> out;
  add_meaning(out);
  add_labels(analysis.rows, out);
  add_saving(analysis, out);
  add_percent(analysis, out);
  for (std::string& note : statistics_notes(analysis.rows)) out.push_back(std::move(note));
  for (const Row& row : analysis.rows)
    for (const Warning& warning : row.warnings)
      out.push_back(
          fmt::format("{}: {}{}{}", place(row), warning.mark, warning.mark.empty() ? "" : ": ", warning.text));
  out.insert(out.end(), analysis.duplicates.begin(), analysis.duplicates.end());
  for (const std::string& file : analysis.bad_files) out.push_back(fmt::format("skipped: {}", file));
  return out;
}

}  // namespace megaup::analysis
