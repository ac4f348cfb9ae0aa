#include <megaup/analysis/report/page_facts.hpp>

#include <fmt/format.h>

#include <megaup/analysis/number.hpp>

namespace megaup::analysis {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// Differences of one row, all with its decimals.
class Words {
 public:
  explicit Words(const Row& row) : decimals_(decimals_of(row.delta->baseline_ms)) {}
  std::string difference(double ms) const { return difference_text(ms, decimals_) + " ms"; }
  std::string range(const Interval& interval) const {
    return fmt::format("{} to {} ms", difference_text(interval.low, decimals_),
                       difference_text(interval.high, decimals_));
  }
  std::string size(double ms) const { return size_text(ms, decimals_); }
  std::string time(double ms) const { return time_text(ms, decimals_) + " ms"; }

 private:
  int decimals_;
};

void add_statistics(const Row& row, const Words& words, Facts& facts) {
  const Statistics& statistics = row.statistics;
  const Conclusion& conclusion = row.conclusion;
  if (!conclusion.interval_ms) {
    facts.emplace_back("Interval",
                       fmt::format("none: it needs {} blocks, this cell has {}", kLeastBlocks, statistics.blocks));
    return;
  }
  facts.emplace_back("Interval",
                     fmt::format("{} ({:.4g} %, Student's t over the differences of {} blocks, {} degrees of freedom)",
                                 words.range(*conclusion.interval_ms), 100 * statistics.confidence, statistics.blocks,
                                 statistics.difference->degrees));
  if (*conclusion.h_safe_ms > 0)
    facts.emplace_back("h_safe",
                       fmt::format("{}: the one-sided {:.4g} % lower bound of Delta; an overhead below it is safe",
                                   words.size(*conclusion.h_safe_ms), 100 * statistics.confidence));
  else
    facts.emplace_back("h_safe", fmt::format("none: the one-sided {:.4g} % lower bound of Delta is {}",
                                             100 * statistics.confidence, words.difference(*conclusion.h_safe_ms)));
  facts.emplace_back(
      "Sign flips",
      fmt::format("p = {:.2g} that differences as likely positive as negative give this much", statistics.sign_flip_p));
  const OrderEffect& order = *conclusion.order_effect;
  facts.emplace_back("Order effect",
                     fmt::format("{} ({}): {}", words.difference(order.effect), words.range(order.interval),
                                 order.matters ? "it matters, read both orders" : "within the noise, or small"));
}

void add_resolution(const Row& row, const Words& words, Facts& facts) {
  if (!row.conclusion.resolution_ms) return;
  facts.emplace_back("Resolution", fmt::format("{}, from {}", words.size(*row.conclusion.resolution_ms),
                                               row.statistics.control
                                                   ? "an arm against itself in this cell"
                                                   : "another cell's arm against itself, as a share of the baseline"));
}

void add_drift(const Row& row, const Words& words, Facts& facts) {
  const auto text = [&](const std::string& arm, const Trend& trend) {
    return fmt::format("{} {} a {} (p = {:.2g})", arm, words.difference(trend.slope_ms),
                       trend.per_minute ? "minute" : "block", trend.p);
  };
  if (row.statistics.baseline && row.statistics.candidate)
    facts.emplace_back("Drift",
                       fmt::format("{}; {} (Theil-Sen, Mann-Kendall)", text(row.baseline, *row.statistics.baseline),
                                   text(row.candidate, *row.statistics.candidate)));
}

void add_details(const Row& row, const Words& words, Facts& facts) {
  if (!row.details) return;
  const Details& details = *row.details;
  const std::string* arms[2] = {&row.baseline, &row.candidate};
  if (details.rank_mean_delta_ms)
    facts.emplace_back("Mean of ranks", fmt::format("{} if the mean of the ranks counted in place of the slowest",
                                                    words.difference(*details.rank_mean_delta_ms)));
  std::string additivity, outliers;
  for (int side = 0; side < 2; ++side) {
    const char* const gap = side == 0 ? "" : "; ";
    if (const auto& found = details.additivity[side])
      additivity += fmt::format("{}{}: the four one by one {}, back to back {}", additivity.empty() ? "" : gap,
                                *arms[side], words.time(found->sum_ms), words.time(found->sequence_ms));
    outliers += fmt::format("{}{}: {} mild, {} severe", gap, *arms[side], details.outliers[side].mild,
                            details.outliers[side].severe);
  }
  if (!additivity.empty()) facts.emplace_back("Additivity", additivity);
  const std::size_t each = details.order.size() * static_cast<std::size_t>(details.observations) * kOperations.size();
  facts.emplace_back("Outliers", fmt::format("{}, of {} observations each (Tukey's fences); kept", outliers, each));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> page_facts(const Row& row) {
  Facts facts;
  if (row.delta) {
    const Words words(row);
    facts.emplace_back("By run order",
                       fmt::format("{} from the initial blocks, {} from the reversed ones",
                                   words.difference(row.delta->initial_ms), words.difference(row.delta->reversed_ms)));
    add_statistics(row, words, facts);
    add_resolution(row, words, facts);
    if (const auto possible = possible_ms(row))
      facts.emplace_back(
          "Possible saving",
          fmt::format(
              "{} if only the larger of GEMM and exchange remained of each operation; {:.0f} % of it is realised",
              words.size(*possible), 100 * *realised(row)));
    add_drift(row, words, facts);
    add_details(row, words, facts);
  } else {
    facts.emplace_back("No Delta", fmt::format("{}: {}", row.status, row.reason));
  }
  for (const Warning& warning : row.warnings) facts.emplace_back("Note", warning.text);
  facts.emplace_back("Label", fmt::format("{}, fabric {}", row.source, row.fabric));
  facts.emplace_back("Cell", fmt::format("{} cells/{}", row.file, row.cell));
  return facts;
}

}  // namespace megaup::analysis
