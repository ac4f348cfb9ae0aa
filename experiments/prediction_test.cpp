#include <array>
#include <cmath>

#include <catch2/catch_test_macros.hpp>

#include <megaup/core/hash.hpp>
#include <megaup/experiments/prediction.hpp>

using namespace megaup;
using namespace megaup::experiments;

namespace {

constexpr std::array<std::string_view, 4> kOperations{"qkv_fwd", "out_fwd", "out_dgrad", "qkv_dgrad"};
constexpr std::array<std::string_view, 3> kArms{"native_packed", "native_packed_ce", "fused"};
constexpr std::array<std::string_view, 1> kBounds{"gemm_only"};
constexpr std::array<std::string_view, 1> kKernels{"k128x256"};

Plan plan_of(const std::string& rest) {
  KnownNames known{kOperations, kArms, kBounds, kArms, kBounds};
  known.push.kernels = known.pull.kernels = kKernels;
  return plan(
      parse_spec("spec_version: 1\nname: t\nworkload: {batch: 8}\nmatrix: {model: [llama-3.1-8b], cp: [2, 8, 64], "
                 "tokens_per_rank: [8192]}\n" +
                     rest,
                 "t.yaml", known),
      {});
}

/// A machine with curves of NCCL among 2 and 8 ranks, and of copy engines among 2.
MachineFile machine() {
  MachineFile out{"shipped", "the bytes", {}};
  auto& m = out.machine;
  const auto figure = [](double value) { return simulation::Figure{value, "made up", "2026-11-30"}; };
  m.name = "made-up", m.description = "for tests", m.fabric = "nvlink";
  m.multiprocessors = {132, "made up", "2026-11-30"};
  m.gemm_rate = figure(700e12), m.launch = figure(2e-6), m.gap = figure(0), m.link_rate = figure(300e9),
  m.barrier = figure(5e-6);
  m.reorder = {{figure(3e12), figure(2e-6)}};
  m.push = m.pull = {{figure(1), figure(1)}};
  for (const auto& [transport, ranks, rate] :
       {std::tuple("nccl", 2, 250e9), {"nccl", 8, 200e9}, {"copy_engine", 2, 300e9}})
    m.exchange.push_back({transport, ranks, "made up", "2026-11-30", {{1e6, 1e6 / rate}, {1e9, 1e9 / rate}}});
  REQUIRE(simulation::violations(m).empty());
  return out;
}

const core::CellRecord& with_cp(const core::Record& record, std::int64_t cp) {
  for (const auto& cell : record.cells)
    if (cell.cp == cp) return cell;
  FAIL("no cell of that CP");
  return record.cells.front();
}

}  // namespace

TEST_CASE("a predicted record is sound, simulated, and carries its machine", "[prediction]") {
  const auto plan = plan_of("arms: {baseline: [native_packed, native_packed_ce]}\nbackend: {device: cuda}\n");
  const auto file = machine();
  const auto record = predicted_record(plan, file, predict(plan, file.machine));
  CHECK(core::violations(record).empty());
  CHECK(record.source == "simulated");
  CHECK(record.fabric == "nvlink");
  CHECK(record.environment.at("machine_yaml") == "the bytes");
  CHECK(record.environment.at("machine_sha256") == core::sha256("the bytes"));
  CHECK(record.environment.at("not_modelled").find("stragglers") != std::string::npos);

  const auto& whole = with_cp(record, 2);
  CHECK(whole.status == "measured");
  CHECK(whole.arms == std::vector<std::string>{"native_packed", "native_packed_ce", "fused", "gemm_only"});
  CHECK(whole.latency.size() == 4 * 4 * 2);
  CHECK(whole.latency[whole.index(0, 0, 0, 0, 0)] == whole.latency[whole.index(0, 0, 1, 0, 0)]);
  CHECK(std::get<std::string>(whole.extra.at("predicted_native_packed_verdict")) == "undecided");
  CHECK_FALSE(whole.extra.contains("warmup"));
}

TEST_CASE("arms without a prediction are left out, cells without a comparison are refused", "[prediction]") {
  const auto plan = plan_of("arms: {baseline: [native_packed, native_packed_ce]}\nbackend: {device: cuda}\n");
  const auto file = machine();
  const auto record = predicted_record(plan, file, predict(plan, file.machine));
  const auto& partly = with_cp(record, 8);  // no copy engines among 8 ranks
  CHECK(partly.status == "measured");
  CHECK(partly.arms == std::vector<std::string>{"native_packed", "fused", "gemm_only"});
  CHECK(std::get<std::string>(partly.extra.at("predicted_without")).starts_with("native_packed_ce: "));
  const auto& impossible = with_cp(record, 64);  // 32 query heads: the plan's refusal
  CHECK(impossible.status == "refused");
  CHECK(impossible.reason.find("32") != std::string::npos);
  CHECK(std::isnan(impossible.latency.front()));

  const auto engines = plan_of("arms: {baseline: [native_packed_ce]}\nbackend: {device: cuda}\n");
  const auto cells = predict(engines, file.machine);
  CHECK(cells[0].refused.empty());
  CHECK(cells[1].refused.find("copy_engine") != std::string::npos);

  auto blind = file.machine;
  blind.push.reset();
  CHECK(predict(plan, blind)[0].refused.find("fused: ") != std::string::npos);
}

TEST_CASE("a transport that the spec names takes the place of the machine's", "[prediction]") {
  const auto file = machine();
  const auto own =
      predict(plan_of("arms: {baseline: [native_packed, native_packed_ce]}\nbackend: {device: cuda}\n"), file.machine);
  const auto other = predict(
      plan_of("arms: {baseline: [native_packed]}\nbackend: {device: cuda, exchange: copy_engine}\n"), file.machine);
  CHECK(other[0].prediction->times[0].time->seconds == own[0].prediction->times[1].time->seconds);
  CHECK(other[0].prediction->times[0].time->seconds < own[0].prediction->times[0].time->seconds);
}

TEST_CASE("specs that ask for what no machine describes are refused as a whole", "[prediction]") {
  CHECK_FALSE(unpredictable(plan_of("backend: {device: cuda}\n").spec));
  CHECK_FALSE(unpredictable(plan_of("").spec));
  for (const char* rest : {"backend: {device: cuda, solo: true}\n", "backend: {device: cuda, share_device: true}\n",
                           "backend: {device: cuda, push: k128x256}\n", "backend: {device: cuda, pull: k128x256}\n",
                           "measure: {cache: cold}\n", "measure: {cadence: back_to_back}\n"}) {
    INFO(rest);
    CHECK(unpredictable(plan_of(rest).spec));
  }
}
