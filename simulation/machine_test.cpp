#include <megaup/simulation/machine.hpp>

#include <functional>
#include <limits>

#include <catch2/catch_test_macros.hpp>

#include <megaup/simulation/test_support/machines.hpp>

using namespace megaup::simulation;
using namespace megaup::simulation::test_support;

namespace {

/// The one violation of a machine that is sound but for `change`.
Violation only_violation(const std::function<void(Machine&)>& change) {
  Machine machine = plain_machine();
  machine.gemm = {{"a test", "2026-11-30", {{128, 256, 64, true, 1e-6}, {128, 256, 64, false, 2e-6}}}};
  REQUIRE(violations(machine).empty());
  change(machine);
  const auto found = violations(machine);
  REQUIRE(found.size() == 1);
  return found[0];
}

}  // namespace

TEST_CASE("a sound machine has no violation, and equals its copy") {
  const Machine machine = plain_machine();
  CHECK(violations(machine).empty());
  CHECK(machine == Machine(machine));
}

TEST_CASE("every rule of a machine file is broken by its member's name") {
  struct Broken {
    const char* member;
    const char* says;
    std::function<void(Machine&)> change;
  };
  const Broken all[] = {
      {"name", "needs a name", [](Machine& m) { m.name.clear(); }},
      {"fabric", "emulated cannot be", [](Machine& m) { m.fabric = "emulated"; }},
      {"fabric", "'token ring' is not one of nvlink", [](Machine& m) { m.fabric = "token ring"; }},
      {"duty", "'hot' is not one of sustained", [](Machine& m) { m.duty = "hot"; }},
      {"schedule", "'random'", [](Machine& m) { m.schedule = "random"; }},
      {"default_transport", "transport", [](Machine& m) { m.default_transport.clear(); }},
      {"multiprocessors", "0 is not positive", [](Machine& m) { m.multiprocessors->value = 0; }},
      {"tile", "0 x 128", [](Machine& m) { m.tile->m = 0; }},
      {"tile", "source", [](Machine& m) { m.tile->source.clear(); }},
      {"peak_rate", "-1 is not", [](Machine& m) { m.peak_rate = figure(-1), m.gemm_rate.reset(); }},
      {"link_rate", "nan is not", [](Machine& m) { m.link_rate = figure(std::numeric_limits<double>::quiet_NaN()); }},
      {"launch", "-1e-06 is not", [](Machine& m) { m.launch = figure(-1e-6); }},
      {"gap", "inf is not", [](Machine& m) { m.gap = figure(std::numeric_limits<double>::infinity()); }},
      {"link_rate", "above the peak link rate", [](Machine& m) { m.link_rate = figure(600e9); }},
      {"barrier", "date '2026-13'", [](Machine& m) { m.barrier->date = "2026-13"; }},
      {"barrier", "date '2026-02-30'", [](Machine& m) { m.barrier->date = "2026-02-30"; }},
      {"barrier", "date 'yesterday'", [](Machine& m) { m.barrier->date = "yesterday"; }},
      {"gemm_rate", "above the peak", [](Machine& m) { m.gemm_rate = figure(2e15); }},
      {"reorder.rate", "0 is not", [](Machine& m) { m.reorder->rate.value = 0; }},
      {"reorder.launch", "source", [](Machine& m) { m.reorder->launch.source.clear(); }},
      {"push.compute", "5 is not within 0.5 to 4", [](Machine& m) { m.push->compute.value = 5; }},
      {"pull.link", "0.1 is not within", [](Machine& m) { m.pull->link.value = 0.1; }},
      {"gemm[0]", "at least one point", [](Machine& m) { m.gemm[0].points.clear(); }},
      {"gemm[0]", "date ''", [](Machine& m) { m.gemm[0].date.clear(); }},
      {"gemm[0].points[1]", "twice", [](Machine& m) { m.gemm[0].points[1].weight_transposed = true; }},
      {"gemm[0].points[0]", "-128 x 256", [](Machine& m) { m.gemm[0].points[0].m = -128; }},
      {"gemm[0].points[0]", "0 s is not", [](Machine& m) { m.gemm[0].points[0].seconds = 0; }},
      {"exchange[0]", "1 ranks", [](Machine& m) { m.exchange[0].ranks = 1; }},
      {"exchange[1]", "at least one point", [](Machine& m) { m.exchange[1].points.clear(); }},
      {"exchange[1]", "a second curve of nccl", [](Machine& m) { m.exchange[1].transport = "nccl"; }},
      {"exchange[0].points[1]", "sort the curve", [](Machine& m) { m.exchange[0].points[1].bytes = 1e6; }},
      {"exchange[0].points[1]", "cannot be faster", [](Machine& m) { m.exchange[0].points[1].seconds = 9e-6; }},
      {"cells[0]", "KV heads",
       [](Machine& m) {
         m.cells = {{"run.h5", "a", "llama-3.1-8b", llama(8192, 16), {"fused"}, {}}};
       }},
      {"duty", "at which duty",
       [](Machine& m) {
         m.cells = {{"run.h5", "a", "llama-3.1-8b", llama(), {"fused"}, {}}};
         m.duty.clear();
       }},
  };
  for (const Broken& broken : all) {
    CAPTURE(broken.member, broken.says);
    const Violation found = only_violation(broken.change);
    CHECK(found.member == broken.member);
    CHECK(found.what.find(broken.says) != std::string::npos);
    CAPTURE(found.what);
  }
}
