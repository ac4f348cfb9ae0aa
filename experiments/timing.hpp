#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
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
  std::optional<core::DeviceState> state;  ///< of this rank's device, in the middle of the block
};

/// Runs a block of each launch, which take turns: one observation of each before the next of any. Result [launch]. With cadence barrier all
/// ranks leave a barrier before each launch; with back_to_back only before the first. Counts come from the spec, never from a clock, so
/// that all ranks make the same calls. Hooks are told the number of the launch over all of them: the n-th one's are n, n + size, ...
/// Collective.
std::vector<BlockTimes> time_blocks(const Observing& how, std::span<const std::function<void()>> launches);

}  // namespace megaup::experiments
