#pragma once

#include <vector>

#include <megaup/simulation/fused_arm.hpp>

namespace megaup::simulation {

/// A measured fused operation and what its kernel consisted of.
struct FusedSample {
  FusedWork work;  ///< with factors of 1
  double barrier = 0, measured = 0;
};

struct Factors {
  double compute = 1, link = 1;
};

/// The factors from kLeastFactor to kMostFactor with the least sum of ((modelled - measured) / measured)^2; `seconds` is push_seconds or
/// pull_seconds. A grid around the best of a coarser one, until its step is below 0.001. Two samples of one model could be met by a compute
/// factor of 0.5 with a link factor of 4; a weak pull of both to 1 (kPrior * ln^2), which many samples outweigh, keeps them from it.
/// At least one sample.
Factors fit_contention(const std::vector<FusedSample>& samples, double (*seconds)(const FusedWork&));

}  // namespace megaup::simulation
