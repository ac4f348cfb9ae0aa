#pragma once

#include <chrono>
#include <string_view>

#include <megaup/comm/communicator.hpp>
#include <megaup/experiments/device_watch.hpp>
#include <megaup/ops/operation.hpp>

#include <link_options_cuda.cuh>
#include <link_timer_cuda.cuh>
#include <link_variants_cuda.cuh>

/// The table of megaup_cuda_link_benchmark.
namespace megaup::cuda_tests {

/// One model and operation on one rank.
struct LinkCell {
  comm::Communicator& group;
  LinkTimer& timer;
  const experiments::DeviceWatch& watch;
  std::string_view model;
  const ops::Operation& operation;
  core::Problem problem;
};

/// One line of the table.
struct Row {
  const Duty& duty;
  std::string_view group;
  const Variant& variant;
  const Timed::Operation& timed;
  Times share;
  double clock_hz, power_w;
};

/// Rank 0 prints it.
void print(const LinkCell& cell, const Row& row);

/// Power of the devices since `begin`, W, mean; NaN where NVML has not answered. Collective.
double power_w(const LinkCell& cell, std::chrono::steady_clock::time_point begin);

/// bare / ms, round by round.
Times shares(const Times& bare, const Times& ms);

}  // namespace megaup::cuda_tests
