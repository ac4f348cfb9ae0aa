#pragma once

#include <memory>
#include <span>
#include <vector>

#include <megaup/comm/communicator.hpp>
#include <megaup/core/device.hpp>
#include <megaup/ops/arm.hpp>

/// Times prepared operations of several ranks that each have a device, interleaved.
namespace megaup::cuda_tests {

/// Milliseconds, one number a round.
using Times = std::vector<double>;

/// How often every operation is launched, and how long the devices rest before each launch.
struct Rounds {
  int warm_up, timed;
  double rest_ms = 0;
};

/// The same on all ranks.
struct Timed {
  struct Operation {
    Times ms;                          ///< of the slowest rank
    std::vector<double> rank_medians;  ///< ms
  };
  std::vector<Operation> operations;
  double clock_hz;  ///< of the multiprocessors in the timed rounds, mean; of the slower device
};

class LinkTimer {
 public:
  /// Collective.
  explicit LinkTimer(comm::Communicator& group);

  /// Every operation once a round, in an order that changes from round to round. Before each launch the devices rest
  /// and then meet in their streams; the host only keeps some launches ahead. Collective.
  /// Errors: Error{cell} on all ranks when a launch did not end as it should, naming the rank and what it waited for.
  Timed run(std::span<ops::PreparedOperation* const> operations, const Rounds& rounds);

 private:
  void launch(ops::PreparedOperation& operation, int stamp, double rest_ms);
  void read_clocks(int when);
  double clock_hz();
  void check_faults(std::span<ops::PreparedOperation* const> operations);

  comm::Communicator& group_;
  core::Device& device_;
  std::unique_ptr<comm::StreamBarrier> barrier_;
  core::DeviceBuffer clocks_;
};

}  // namespace megaup::cuda_tests
