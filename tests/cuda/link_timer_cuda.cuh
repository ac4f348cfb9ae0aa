#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <megaup/comm/communicator.hpp>
#include <megaup/ops/arm.hpp>

/// Times prepared operations of several ranks that each have a device, interleaved.
namespace megaup::cuda_tests {

/// How long the devices rest before each launch, in times of the bare GEMM. `mixed` is between the two of ops/regime.hpp:
/// what a step does that has other, cooler kernels between these.
struct Duty {
  std::string_view name;
  double rest;
};
inline constexpr Duty kDuties[] = {{"sustained", 0}, {"mixed", 0.5}, {"spaced", 4}};

/// Milliseconds of one operation, one number a round.
using Times = std::vector<double>;

class LinkTimer {
 public:
  /// Collective.
  explicit LinkTimer(comm::Communicator& group);

  /// Every operation once a round, in an order that changes from round to round. Before each launch the devices rest for
  /// `rest_ms` and meet in their streams; the host only keeps some launches ahead. The result is the same on all ranks:
  /// times of the slowest one. Collective.
  /// Errors: Error{cell} on all ranks when a launch did not end as it should, naming the rank and what it waited for.
  std::vector<Times> run(std::span<ops::PreparedOperation* const> operations, int rounds, double rest_ms);

 private:
  void launch(ops::PreparedOperation& operation, int stamp, double rest_ms);
  void check_faults(std::span<ops::PreparedOperation* const> operations);

  comm::Communicator& group_;
  core::Device& device_;
  std::unique_ptr<comm::StreamBarrier> barrier_;
};

}  // namespace megaup::cuda_tests
