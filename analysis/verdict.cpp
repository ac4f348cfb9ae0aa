#include <megaup/analysis/verdict.hpp>

#include <cmath>

#include <fmt/format.h>

#include <megaup/analysis/blocks_needed.hpp>
#include <megaup/analysis/number.hpp>

namespace megaup::analysis {
namespace {

/// "-0.012 to +0.034 ms"
std::string range_text(const Interval& interval, int decimals) {
  return fmt::format("{} to {} ms", difference_text(interval.low, decimals), difference_text(interval.high, decimals));
}

/// The same for the size of a loss or saving: the smaller end first, no signs.
std::string size_range_text(const Interval& interval, int decimals) {
  const double low = std::min(std::abs(interval.low), std::abs(interval.high));
  const double high = std::max(std::abs(interval.low), std::abs(interval.high));
  const auto digits = [&](double ms) { return difference_text(ms, decimals).substr(1); };  // without its plus
  return fmt::format("{} to {} ms", digits(low), digits(high));
}

bool orders_agree(const OrderedMean& difference) { return (difference.initial > 0) == (difference.reversed > 0); }

/// With few blocks no p-value can fall below the level: then the sign flips have nothing to say.
bool sign_flips_contradict(const Evidence& evidence) {
  const double level = 1 - evidence.confidence;
  const double smallest = std::ldexp(2.0, -static_cast<int>(std::min<std::int64_t>(evidence.difference.blocks, 1000)));
  return smallest <= level && evidence.sign_flip_p > level;
}

Verdict undecided(const Evidence& evidence, const std::string& why) {
  Verdict verdict{VerdictKind::undecided, why, {}};
  const double margin = evidence.resolution.value_or(0);
  const double distance = std::abs(std::abs(evidence.difference.mean) - margin);
  const auto needed = blocks_needed(evidence.difference, distance, evidence.confidence);
  if (needed) {
    verdict.more_blocks = *needed - evidence.difference.blocks;
    verdict.reason += fmt::format("; needs about {} more blocks if the spread stays as it is", *verdict.more_blocks);
  } else {
    verdict.reason += "; repeating alone will not decide it";
  }
  return verdict;
}

/// The interval leaves out everything within the margin, on the side of `sign`.
Verdict one_sided(const Evidence& evidence, const Interval& interval, bool benefit) {
  const int decimals = evidence.decimals;
  if (!orders_agree(evidence.difference))
    return {VerdictKind::undecided,
            fmt::format("the run orders disagree: {} ms from the initial blocks, {} ms from the reversed ones",
                        difference_text(evidence.difference.initial, decimals),
                        difference_text(evidence.difference.reversed, decimals)),
            {}};
  if (sign_flips_contradict(evidence))
    return undecided(
        evidence,
        fmt::format(
            "the interval leaves out zero, but {:.0f} % of all sign patterns of the blocks reach the same Delta",
            100 * evidence.sign_flip_p));
  if (!benefit)
    return {VerdictKind::harm,
            fmt::format("{} loses {} ({})", evidence.candidate, size_text(evidence.difference.mean, decimals),
                        size_range_text(interval, decimals)),
            {}};
  const double safe = lower_bound(evidence.difference, evidence.confidence);
  return {VerdictKind::benefit,
          fmt::format("{} saves {} ({}); worth it while integration costs less than {}", evidence.candidate,
                      size_text(evidence.difference.mean, decimals), size_range_text(interval, decimals),
                      size_text(safe, decimals)),
          {}};
}

}  // namespace

std::string_view name(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::benefit: return "benefit";
    case VerdictKind::harm: return "harm";
    case VerdictKind::no_difference: return "no difference";
    case VerdictKind::undecided: return "undecided";
    case VerdictKind::not_measured: return "not measured";
  }
  return "undecided";
}

Verdict verdict_of(const Evidence& evidence) {
  const Interval interval = interval_of(evidence.difference, evidence.confidence);
  const double margin = evidence.resolution.value_or(0);
  if (interval.low > margin) return one_sided(evidence, interval, true);
  if (interval.high < -margin) return one_sided(evidence, interval, false);
  const std::string range = range_text(interval, evidence.decimals);
  if (!evidence.resolution)
    return undecided(
        evidence, fmt::format("the interval ({}) holds zero, and no A/A comparison says what counts as equal", range));
  const std::string within = size_text(margin, evidence.decimals);
  if (interval.low >= -margin && interval.high <= margin)
    return {VerdictKind::no_difference, fmt::format("within {}, the resolution of this run ({})", within, range), {}};
  return undecided(evidence,
                   fmt::format("the interval ({}) reaches across the resolution of this run, {}", range, within));
}

}  // namespace megaup::analysis
