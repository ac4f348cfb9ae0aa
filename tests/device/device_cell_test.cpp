#include <fake_device.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <set>
#include <thread>
#include <tuple>

#include <fmt/format.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/experiments/measure.hpp>
#include <megaup/ops/operation.hpp>

/// A whole cell on devices: checked, timed and stored.
namespace megaup {
namespace {

using Catch::Matchers::ContainsSubstring;

// Rows of arms are plain functions: they cannot carry these.
fake::Misdeed misdeed;
ops::KernelWish push, pull;                       // that an arm was prepared with
std::set<std::int64_t> multiprocessors, planned;  // of rank 0 in every prepare
std::string refused;                              // what all ranks find when they prepare an arm

template <ops::Kind kKind>
const ops::Arm kFake{
    .name = "fake",
    .doc = "the host's native_packed on a fake device",
    .kind = kKind,
    .place = ops::Place::cuda,
    .bound = false,
    .infeasible = [](const ops::Operation&, const core::Problem&, const ops::Context&) { return core::Reason(); },
    .prepare =
        [](ops::Operands& operands, const ops::Context& context) {
          fake::expect(context.regime == ops::Regime::spaced, "the regime of the spec");
          fake::expect(context.gemm_provider == "cublaslt", "no provider of the host");
          if (context.communicator.rank() == 0) {
            push = context.push, pull = context.pull;
            multiprocessors.insert(context.communicator.device()->multiprocessors());
            planned.insert(ops::device_setting(context).sms);
          }
          if (!refused.empty()) throw comm::GroupError(core::ErrorKind::environment, refused, 1);
          return fake::prepare_fake(operands, context, &misdeed);
        },
    .workspace_bytes = [](const ops::Operation&, const core::Problem&, std::string_view) -> std::int64_t { return 0; }};

const ops::Arm* lookup(std::string_view name, ops::Kind kind) {
  if (name == "missing" && kind == ops::Kind::a2a_to_gemm) return nullptr;
  return kind == ops::Kind::gemm_to_a2a ? &kFake<ops::Kind::gemm_to_a2a> : &kFake<ops::Kind::a2a_to_gemm>;
}

core::CellRecord measured(const std::string& backend, const std::string& candidate = "other",
                          const std::string& measure = "observations: 3") {
  const std::string yaml = fmt::format(
      "spec_version: 1\nname: fake\nmodels: {{tiny: {{hidden: 32, query_heads: 4, kv_heads: 2, head_dim: 8}}}}\n"
      "workload: {{batch: 2}}\nmatrix: {{model: [tiny], cp: [2], tokens_per_rank: [8]}}\noperations: [qkv_fwd, "
      "out_fwd]\n"
      "arms: {{baseline: [fake], candidate: {}, bounds: false}}\nbackend: {{device: cuda, {}}}\n"
      "measure: {{warmup: 1, {}, duty: spaced}}\n",
      candidate, backend, measure);
  const std::vector<std::string_view> operations{"qkv_fwd", "out_fwd"}, arms{"fake", "other", "missing"};
  const std::vector<std::string_view> kernels{"small", "large"}, orders{"N1", "N2"};
  const auto spec = experiments::parse_spec(
      yaml, "fake.yaml",
      {.operations = operations, .cuda_arms = arms, .push = {kernels, orders}, .pull = {kernels, orders}});
  const auto plan = experiments::plan(spec, {.version = "test"});
  core::CellRecord record;
  fake::on_fake_devices(2, [&](fake::FakeWorld& world) {
    const std::atomic<bool> stop = false;
    auto mine = experiments::measure_cell(plan, plan.cells.at(0), world, lookup, {}, stop);
    if (world.rank() == 0) record = std::move(mine);
    world.barrier();
  });
  return record;
}

TEST_CASE("a cell on devices has the device's times, and what each device said in each block") {
  misdeed = {};
  const auto cell = measured("share_device: true");
  CHECK(cell.reason == "");
  REQUIRE(cell.status == "measured");
  REQUIRE(cell.ranks == 2);
  for (std::size_t i = 0; i < cell.latency.size(); ++i)
    CHECK(std::abs(cell.latency[i] - (i % 2 == 0 ? 1e-3 : 2e-3)) < 1e-9);
  CHECK(cell.device.power.size() == 2 * 2 * 2 * 2);
  CHECK(cell.device.power.back() == 700);  // long after the first answer
  CHECK(cell.device.throttle_reasons.back() == 4);
  CHECK(std::get<std::string>(cell.extra.at("fabric")) == "emulated");
  CHECK(std::get<std::string>(cell.extra.at("duty")) == "spaced");
  CHECK(std::get<std::string>(cell.extra.at("devices")) == "fake device 0; fake device 1");
}

TEST_CASE("arms are prepared with the kernels that the spec asks for, and the cell stores them") {
  misdeed = {};
  const auto cell = measured("share_device: true, push: large/N2, pull: auto/N1");
  REQUIRE(cell.status == "measured");
  CHECK(push == ops::KernelWish{"large", "N2"});
  CHECK(pull == ops::KernelWish{"", "N1"});
  CHECK(std::get<std::string>(cell.extra.at("push")) == "large/N2");
  CHECK(std::get<std::string>(cell.extra.at("pull")) == "auto/N1");
}

TEST_CASE("kernels are planned for what is timed, in the check before it too") {
  using Set = std::set<std::int64_t>;
  misdeed = {};
  for (const auto& [backend, used, wanted] :
       {std::tuple("share_device: true", Set{4}, Set{4}), std::tuple("solo: true", Set{4, 8}, Set{8})}) {
    multiprocessors.clear(), planned.clear();
    REQUIRE(measured(backend).status == "measured");
    CHECK(multiprocessors == used);
    CHECK(planned == wanted);
  }
}

TEST_CASE("solo timing stores one rank, and the check before it has all") {
  misdeed = {};
  const auto cell = measured("solo: true");
  CHECK(cell.reason == "");
  REQUIRE(cell.status == "measured");
  CHECK(cell.ranks == 1);
  CHECK(cell.cp == 2);
  CHECK(cell.latency.size() == 2 * 2 * 2 * 3);
  for (const double seconds : cell.latency) CHECK(std::abs(seconds - 1e-3) < 1e-9);
  CHECK(cell.device.sm_clock.size() == 2 * 2 * 2);
  CHECK(std::get<std::int64_t>(cell.extra.at("solo")) == 1);
  for (const double error : cell.error_frobenius) CHECK(error > 0);
}

TEST_CASE("what only a trial tells fails the cell and not the launch: all ranks go on") {
  misdeed = {};
  refused = "exchange nccl_window: no symmetric window";
  const auto cell = measured("share_device: true");
  refused.clear();
  CHECK(cell.status == "failed");
  CHECK_THAT(cell.reason, ContainsSubstring("no symmetric window"));
}

TEST_CASE("a fault in a timed launch fails the cell with its reason") {
  std::int64_t asked = 0;  // the gate asks after each launch, the timer after the fourth of a block
  misdeed = {.fault = [&asked](int rank, std::int64_t launches) -> core::Reason {
    if (rank != 1) return {};
    const bool timed = launches == 4 && asked != 3;
    asked = launches;
    return timed ? core::Reason("rank 0 has not sent head 7") : core::Reason();
  }};
  const auto cell = measured("share_device: true");
  CHECK(cell.status == "failed");
  CHECK_THAT(cell.reason, ContainsSubstring("qkv_fwd, ") && ContainsSubstring(": rank 0 has not sent head 7") &&
                              ContainsSubstring("rank 1"));
  CHECK(std::isnan(cell.latency.front()));
}

TEST_CASE("a cell whose launches become slow fails by its time") {
  std::atomic<int> slow = 0;
  misdeed = {.on_device = [&slow](ops::Operands&, int, std::int64_t launch) {
    if (launch < 40) return;  // not in the check
    ++slow;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }};
  for (const char* backend : {"share_device: true", "solo: true"}) {
    slow = 0;
    const auto cell = measured(backend, "other", "observations: 1000, cell_timeout: 3 s");
    CHECK(cell.status == "failed");
    CHECK_THAT(cell.reason, ContainsSubstring("took longer than measure.cell_timeout (3 s)"));
    CHECK(slow < 100);  // of 1000
  }
}

TEST_CASE("work that never ends fails its cell with the device's words") {
  misdeed = {.never_ends = [](int, std::int64_t run) { return run == 2; }};  // in the check
  const auto cell = measured("share_device: true");
  CHECK(cell.status == "failed");
  CHECK_THAT(cell.reason, ContainsSubstring("enqueued work was not done"));

  misdeed = {.never_ends = [](int, std::int64_t run) { return run == 60; }};  // in a block
  try {
    measured("share_device: true", "other", "observations: 1000");
    FAIL("the cell has ended");
  } catch (const core::Error& error) {  // of one rank alone: this launch is over, and the run stores the cell as failed
    CHECK(error.kind() == core::ErrorKind::cell);
    CHECK(error.rank() >= 0);
    CHECK_THAT(error.what(), ContainsSubstring("enqueued work was not done"));
  }
}

TEST_CASE("an arm that exists for one kind of operation only fails the cell by name") {
  misdeed = {};
  const auto cell = measured("share_device: true", "missing");
  CHECK(cell.status == "failed");
  CHECK_THAT(cell.reason, ContainsSubstring("there is no missing for out_fwd on device: cuda"));
}

}  // namespace
}  // namespace megaup
