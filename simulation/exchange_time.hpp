#pragma once

#include <cstdint>
#include <string_view>

#include <megaup/simulation/answer.hpp>
#include <megaup/simulation/machine.hpp>

namespace megaup::simulation {

/// nullptr if the machine has none.
const ExchangeCurve* find_curve(const Machine& machine, std::string_view transport, std::int64_t ranks);

/// Seconds of an all-to-all of `bytes` a rank over a curve, which never fall as bytes grow:
///   between two points       linear in (ln bytes, ln seconds)
///   below the first          on the line through the first two points, at least 0 at 0 bytes, so that a start-up time stays
///   above the last           at the last point's bytes / seconds
/// One point: proportional.
double on_curve(const ExchangeCurve& curve, double bytes);

/// The same by transport and ranks; 0 on one rank, where nothing is exchanged. Cannot: no curve of this transport among so many ranks; none is
/// scaled from another number of ranks, because what limits an exchange changes with it.
Answer<Estimate> exchange_time(const Machine& machine, std::string_view transport, std::int64_t ranks, double bytes);

}  // namespace megaup::simulation
