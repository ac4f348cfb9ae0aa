#pragma once

#include <algorithm>

#include <megaup/core/operation.hpp>
#include <megaup/simulation/machine.hpp>

namespace megaup::simulation {

/// Bytes of one rank that cross between ranks: (P-1)/P of the buffer.
constexpr double link_bytes(const core::OperationForm& op, const core::Problem& problem) {
  return static_cast<double>(core::exchange_bytes(op, problem)) * static_cast<double>(problem.P - 1) /
         static_cast<double>(problem.P);
}

/// What no arm can go below, whoever wrote it: seconds of the FLOP at the peak rate and of the link bytes at the peak link rate. 0 where the
/// machine does not say.
struct Floor {
  double gemm = 0, exchange = 0;
  double whole() const { return std::max(gemm, exchange); }
};

inline Floor floor_of(const Machine& machine, const core::OperationForm& op, const core::Problem& problem) {
  return {machine.peak_rate ? core::flop(op, problem) / machine.peak_rate->value : 0,
          machine.peak_link_rate ? link_bytes(op, problem) / machine.peak_link_rate->value : 0};
}

}  // namespace megaup::simulation
