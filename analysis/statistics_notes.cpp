#include <megaup/analysis/statistics_notes.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/analysis/false_discovery.hpp>
#include <megaup/analysis/sequential.hpp>

namespace megaup::analysis {
namespace {

constexpr double kFalseDiscoveryRate = 0.05;

/// Measured rows with a Delta and too few blocks.
void add_missing_blocks(const std::vector<Row>& rows, std::vector<std::string>& out) {
  std::set<std::int64_t> blocks;
  std::size_t count = 0;
  for (const Row& row : rows)
    if (row.delta && row.source != "simulated" && row.statistics.blocks < kLeastBlocks) {
      blocks.insert(row.statistics.blocks);
      ++count;
    }
  if (count == 0) return;
  out.push_back(
      fmt::format("{}: no interval and no verdict, because they need {} blocks (two pairs) and {} measured; a Delta "
                  "from two blocks can "
                  "be luck.",
                  count == rows.size() ? "All rows" : fmt::format("{} of {} rows", count, rows.size()), kLeastBlocks,
                  fmt::format("{} {}", fmt::join(blocks, " or "), blocks.size() == 1 ? "were" : "each were")));
}

std::vector<const Row*> with_interval(const std::vector<Row>& rows) {
  std::vector<const Row*> found;
  for (const Row& row : rows)
    if (row.conclusion.interval_ms) found.push_back(&row);
  return found;
}

std::size_t count(const std::vector<const Row*>& rows, VerdictKind kind) {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [&](const Row* row) { return row->conclusion.verdict->kind == kind; }));
}

void add_resolution(const std::vector<const Row*>& rows, std::vector<std::string>& out) {
  const bool known =
      std::any_of(rows.begin(), rows.end(), [](const Row* row) { return row->conclusion.resolution_ms.has_value(); });
  if (known)
    out.emplace_back(
        "The resolution is the far end of the interval of an arm against itself (A/A), as a share of the baseline "
        "where another cell of the file "
        "gave it. Within it, rows are called no difference.");
  else
    out.emplace_back(
        "No arm was measured against itself (A/A), so the resolution of the run is not known: nothing is called no "
        "difference, and a benefit or "
        "a harm is only told from zero.");
}

/// Runs that could end early pay for it with wider intervals.
void add_early_stops(const std::vector<const Row*>& rows, std::vector<std::string>& out) {
  const auto early = std::count_if(rows.begin(), rows.end(),
                                   [](const Row* row) { return row->statistics.confidence > look_confidence(1); });
  if (early == 0) return;
  out.push_back(
      fmt::format("{} could end as soon as Delta was known well enough. At each of the looks allowed the interval has "
                  "a confidence above 95 %, so that over all looks together it "
                  "misses Delta in at most 5 % of cases.",
                  static_cast<std::size_t>(early) == rows.size()
                      ? "All rows with an interval"
                      : fmt::format("{} of {} rows with an interval", early, rows.size())));
}

/// Many rows at once: how many calls would come from chance.
void add_multiplicity(const std::vector<const Row*>& rows, std::vector<std::string>& out) {
  if (rows.size() < 2) return;
  std::vector<double> p;
  for (const Row* row : rows) p.push_back(p_value(*row->statistics.difference));
  const auto found = discoveries(p, kFalseDiscoveryRate);
  out.push_back(fmt::format(
      "Of {} rows with an interval, {} are called a benefit and {} a harm, each for itself. If nothing differed "
      "anywhere, "
      "chance alone would call about {:.2g} a benefit and as many a harm. {} rows differ from zero after Benjamini and "
      "Hochberg (at most {:.0f} % of them falsely). The largest of many is no result until it is measured again.",
      rows.size(), count(rows, VerdictKind::benefit), count(rows, VerdictKind::harm),
      0.025 * static_cast<double>(rows.size()), std::count(found.begin(), found.end(), true),
      100 * kFalseDiscoveryRate));
}

}  // namespace

std::vector<std::string> statistics_notes(const std::vector<Row>& rows) {
  std::vector<std::string> out;
  add_missing_blocks(rows, out);
  const auto judged = with_interval(rows);
  if (judged.empty()) return out;
  out.emplace_back(
      "An interval is Student's t over the differences of whole blocks (the four operations of a block together), with "
      "the spread taken within "
      "each run order. h_safe is the one-sided lower bound of Delta of the same confidence: an overhead below it is "
      "safe.");
  add_early_stops(judged, out);
  add_resolution(judged, out);
  add_multiplicity(judged, out);
  for (const Row* row : judged) {
    const Verdict& verdict = *row->conclusion.verdict;
    out.push_back(fmt::format("{}: {}: {}", place(*row), name(verdict.kind), verdict.reason));
  }
  return out;
}

}  // namespace megaup::analysis
