#pragma once

#include <string>
#include <vector>

#include <megaup/core/test_support/records.hpp>
#include <megaup/simulation/machine.hpp>

/// Machines and measured files with known figures, for tests to start from.
namespace megaup::simulation::test_support {

inline Figure figure(double value) { return {value, "a test", "2026-11"}; }

/// llama-3.1-8b by CP 2 and 8192 tokens a rank, unless changed.
inline core::Problem llama(std::int64_t tokens = 8192, std::int64_t ranks = 2) {
  core::Problem p;
  p.P = ranks, p.B = 8, p.s = tokens / 8, p.H = 4096, p.Hq = 32, p.Hk = 8, p.D = 128;
  return p;
}

/// Everything is there but tables and measured cells. Numbers are chosen to be easy to work with by hand.
inline Machine plain_machine() {
  Machine m;
  m.name = "plain", m.fabric = "nvlink", m.duty = "sustained", m.schedule = "interleaved";
  m.multiprocessors = Count{128, "a test", "2026-11"};
  m.tile = Tile{128, 128, "a test", "2026-11"};
  m.peak_rate = figure(1e15), m.peak_link_rate = figure(500e9);
  m.gemm_rate = figure(500e12), m.link_rate = figure(400e9);
  m.launch = figure(2e-6), m.gap = figure(-1e-6), m.barrier = figure(3e-6);
  m.exchange.push_back({"nccl", 2, "a test", "2026-11", {{1e6, 10e-6}, {100e6, 200e-6}}});
  m.exchange.push_back({"copy_engine", 2, "a test", "2026-11", {{1e6, 20e-6}, {100e6, 150e-6}}});
  m.reorder = Reorder{figure(3e12), figure(5e-6)};
  m.push = Contention{figure(1.0), figure(1.0)};
  m.pull = Contention{figure(1.0), figure(1.0)};
  return m;
}

}  // namespace megaup::simulation::test_support
