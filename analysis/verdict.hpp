#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <megaup/analysis/interval.hpp>

namespace megaup::analysis {

enum class VerdictKind { benefit, harm, no_difference, undecided, not_measured };

/// "benefit", "harm", "no difference", "undecided", "not measured".
std::string_view name(VerdictKind kind);

struct Verdict {
  VerdictKind kind = VerdictKind::undecided;
  std::string reason;                       ///< one sentence, numbers with units
  std::optional<std::int64_t> more_blocks;  ///< undecided: about how many more would decide it, if repeating can
};

/// What a verdict is drawn from; milliseconds.
struct Evidence {
  OrderedMean difference;            ///< Delta over the blocks
  double confidence = 0.95;          ///< of the two-sided interval
  double sign_flip_p = 1;            ///< see sign_flip.hpp
  std::optional<double> resolution;  ///< of the run, from an A/A comparison
  std::string candidate;             ///< name of the arm, for the sentence
  int decimals = 3;                  ///< how finely the row's numbers are shown, see number.hpp
};

/// The rules, with E the resolution (0 where none was measured):
///   benefit        the interval lies above E, both orders have a positive Delta, and the sign flips do not contradict
///   harm           the interval lies below -E, both orders have a negative Delta, and the sign flips do not contradict
///   no difference  the whole interval lies within -E to E; impossible where no resolution was measured
///   undecided      anything else
/// Sign flips contradict when their p-value is above 1 - confidence although the number of blocks would let it be below.
/// There is no fixed percentage: without an A/A comparison nothing is called equal.
Verdict verdict_of(const Evidence& evidence);

}  // namespace megaup::analysis
