#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <megaup/comm/communicator.hpp>
#include <megaup/core/buffer.hpp>
#include <megaup/experiments/agreement.hpp>
#include <megaup/experiments/spec.hpp>

namespace megaup::experiments {

/// Evicts the last-level cache by writing as much as it holds on every rank, so that `cache: cold` means the same for every arm.
class CacheFlush {
 public:
  CacheFlush();
  void flush();
  /// Memory of one rank that flushing takes on this machine.
  static std::int64_t bytes();

 private:
  core::Buffer memory_;
  std::uint8_t value_ = 0;
};

/// What surrounds every observation of a cell; the same for every arm.
struct Observing {
  comm::Communicator& world;
  Deadline& deadline;
  const Measure& measure;
  CacheFlush* flush = nullptr;                       ///< set with cache: cold
  std::function<void(std::int64_t launch)> before;   ///< outside the timed region, e.g. new inputs (validate: every)
  std::function<void(std::int64_t launch)> after;    ///< outside the timed region, e.g. the check
};

/// One block of one operation and arm on this rank: `warmup` untimed launches, then `observations` timed ones.
struct BlockTimes {
  double started_s = 0;          ///< seconds since the epoch, before the first timed launch
  std::vector<double> seconds;   ///< one latency an observation, on this rank's clock
};

/// Runs a block. With cadence barrier all ranks leave a barrier before each launch; with back_to_back only before the first. Counts come
/// from the spec, never from a clock, so that all ranks make the same calls. Collective.
BlockTimes time_block(const Observing& how, const std::function<void()>& launch);

}  // namespace megaup::experiments
