#pragma once

#include <span>

namespace megaup::analysis {

/// Two-sided p-value of "the differences are as likely positive as negative", without any assumption on their distribution: the share of all
/// sign patterns of the block differences whose absolute sum reaches the observed one. It is at least 2 / 2^blocks, so with four blocks it
/// cannot go below 0.125. An effect of the run order only makes it larger. Up to 16 blocks every pattern is counted; above, 65,535 patterns
/// are drawn from a fixed seed and p = (1 + reached) / 65,536.
double sign_flip_p(std::span<const double> differences);

}  // namespace megaup::analysis
