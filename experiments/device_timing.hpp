#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <megaup/comm/communicator.hpp>
#include <megaup/core/record.hpp>
#include <megaup/experiments/device_watch.hpp>
#include <megaup/experiments/timing.hpp>
#include <megaup/ops/arm.hpp>

namespace megaup::experiments {

/// Times blocks on the devices of a world.
///
///   sustained  launches are enqueued without a pause, each between two time stamps in the stream; the host only keeps a
///              few of them ahead of the device, so that it never runs dry. The same work runs for kHeatSeconds before
///              the warm-ups: a device comes to its power limit after some tenths of a second, and a block of 50 launches
///              is over long before
///   spaced     the device rests four times as long as the last launch took before each, so that its clocks stay high
/// With cadence barrier the ranks meet before each launch, in their streams. In solo timing rank 0 alone launches, on the
/// whole device.
class DeviceTiming {
 public:
  static constexpr double kHeatSeconds = 0.25;

  /// Collective.
  DeviceTiming(comm::Communicator& world, const Measure& measure, const Backend& backend);

  /// Rank 0 of solo timing: gets the whole device from here on. Arms that were prepared before must be gone.
  void begin();
  /// To be told of every arm that is prepared to be timed.
  void prepared(ops::PreparedOperation& arm) const;
  /// As the function of that name, for launches that only enqueue. Hooks run when the device rests. Collective; a rank
  /// that does not launch has no times. Throws as Deadline::check, also in the middle of a block: after a launch, or
  /// after a tenth of a second of launches that are shorter; nothing is left in the stream then. Work that does not end
  /// is given up after the device's patience (Error{cell} of that rank).
  std::vector<BlockTimes> time_blocks(const Observing& how, std::span<const std::function<void()>> launches);
  /// Why the barriers of the last blocks did not end as they should.
  core::Reason fault() { return barrier_ ? barrier_->fault() : core::Reason(); }

 private:
  bool launches_here() const { return !solo_ || world_.rank() == 0; }

  comm::Communicator& world_;
  core::Device& device_;
  bool solo_, shared_;
  std::unique_ptr<comm::StreamBarrier> barrier_;
  std::optional<DeviceWatch> watch_;  ///< of ranks that share a device, on the first one
};

/// What this rank's device said, [operation, arm, block], gathered into the record's [operation, arm, block, rank].
class DeviceLog {
 public:
  void keep(const core::CellRecord& record, std::size_t at, const BlockTimes& times);
  /// Collective over `world`, whose first `ranks` are in the record. On a shared device rank 0 speaks for all.
  void gather(comm::Communicator& world, core::CellRecord& record, bool shared) const;

 private:
  core::DeviceSeries mine_;
};

}  // namespace megaup::experiments
