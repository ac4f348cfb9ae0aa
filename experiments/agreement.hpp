#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include <megaup/comm/communicator.hpp>
#include <megaup/core/error.hpp>

namespace megaup::experiments {

/// A failure that every rank of the world throws alike: the ranks are still in step, so the next cell can be measured. Any other exception
/// on one rank leaves the others waiting, and ends the launch.
class AgreedError : public core::Error {
 public:
  using core::Error::Error;
};

/// Collective. If any rank has a reason, all throw AgreedError{kind} with the reason of the lowest such rank and its number.
void agree(comm::Communicator& world, core::ErrorKind kind, const core::Reason& mine);

/// The end of a cell's patience and the user's wish to stop, asked for by all ranks together so that none is left in an exchange.
class Deadline {
 public:
  Deadline(comm::Communicator& world, const std::atomic<bool>& stop, double seconds);
  /// Until time is over, 0 from then on. Not collective.
  std::chrono::duration<double> left() const;
  /// Whether this rank has seen time end, or the wish to stop; once true it stays so. Not collective.
  bool passed() const;
  /// passed() of any rank. Collective, also a barrier.
  bool passed_anywhere() const { return world_.any(passed()); }
  /// Collective, also a barrier. Throws AgreedError{stopped} when stopping was asked for on any rank, AgreedError{cell} when time is over.
  void check();

 private:
  comm::Communicator& world_;
  const std::atomic<bool>& stop_;
  double seconds_;
  std::chrono::steady_clock::time_point end_;
};

}  // namespace megaup::experiments
