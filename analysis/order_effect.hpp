#pragma once

#include <optional>

#include <megaup/analysis/interval.hpp>

namespace megaup::analysis {

/// What the run order does to a difference: half of (initial - reversed), with the interval of the same confidence.
struct OrderEffect {
  double effect = 0;
  Interval interval;
  /// The interval leaves out zero, and the effect is above a quarter of the difference itself or the whole interval lies beyond the
  /// resolution. Then both orders are to be read, not their mean alone.
  bool matters = false;
};

OrderEffect order_effect(const OrderedMean& estimate, double confidence, std::optional<double> resolution);

}  // namespace megaup::analysis
