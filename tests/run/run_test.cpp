#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include <megaup/comm/backend.hpp>
#include <megaup/experiments/plan.hpp>
#include <megaup/experiments/run.hpp>
#include <megaup/ops/arm.hpp>
#include <megaup/ops/operation.hpp>

/// The runner with arms that go wrong in a chosen way: what it does about them, and what it stores.
namespace megaup {
namespace {

using core::CellRecord;

/// What the faulty arm does on a rank at a launch (0, 1, ... since it was prepared), after the real work.
struct Fault {
  std::function<void(int rank, std::int64_t launch, ops::Operands&, const ops::PreparedOperation&)> at_launch;
  std::atomic<std::int64_t> launches{0};  // of all ranks and all prepared operations
};
Fault* injected = nullptr;  // Arm rows are plain functions: they cannot carry it

class Faulty : public ops::PreparedOperation {
 public:
  Faulty(ops::Operands& operands, const ops::Context& context)
      : operands_(operands),
        rank_(context.communicator.rank()),
        real_(ops::find_arm("native_packed", operands.operation().kind)->prepare(operands, context)) {}
  void run() override {
    real_->run();
    ++injected->launches;
    injected->at_launch(rank_, launch_++, operands_, *real_);
  }
  int current_set() const override { return real_->current_set(); }

 private:
  ops::Operands& operands_;
  int rank_;
  std::unique_ptr<ops::PreparedOperation> real_;
  std::int64_t launch_ = 0;
};

template <ops::Kind kKind>
const ops::Arm kFaulty{
    "faulty", "native_packed with a fault", kKind, ops::Place::host, false, [](const ops::Operation&, const core::Problem&, const ops::Context&) { return core::Reason(); },
    [](ops::Operands& operands, const ops::Context& context) -> std::unique_ptr<ops::PreparedOperation> { return std::make_unique<Faulty>(operands, context); },
    [](const ops::Operation&, const core::Problem&, std::string_view) -> std::int64_t { return 0; }};

const ops::Arm* lookup(std::string_view name, ops::Kind kind) {
  if (name != "faulty") return ops::find_arm(name, kind);
  return kind == ops::Kind::gemm_to_a2a ? &kFaulty<ops::Kind::gemm_to_a2a> : &kFaulty<ops::Kind::a2a_to_gemm>;
}

struct Setting {
  std::string operations = "[qkv_fwd, out_fwd, out_dgrad, qkv_dgrad]", tokens = "8, 16", measure = "warmup: 2, observations: 4, cell_timeout: 20 s";
};

std::string spec_text(const Setting& s) {
  return fmt::format(
      "spec_version: 1\nname: faulty\nmodels: {{tiny: {{hidden: 32, query_heads: 4, kv_heads: 2, head_dim: 8}}}}\n"
      "workload: {{batch: 2}}\nmatrix: {{model: [tiny], cp: [2], tokens_per_rank: [{}]}}\noperations: {}\n"
      "arms: {{baseline: [native_packed], candidate: faulty, bounds: false}}\nmeasure: {{{}}}\n",
      s.tokens, s.operations, s.measure);
}

/// Runs the spec with ranks as threads and the fault in place.
experiments::RunOutcome run(const Setting& setting, Fault& what, const std::atomic<bool>& stop = false) {
  injected = &what;
  std::vector<std::string_view> operations;
  for (const auto* op : ops::operations()) operations.push_back(op->name);
  const std::vector<std::string_view> arms{"native_packed", "faulty"}, bounds;
  const auto spec = experiments::parse_spec(spec_text(setting), "faulty.yaml", {operations, arms, bounds});
  const auto plan = experiments::plan(spec, {.version = "test"});
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("megaup-run-test-{}", getpid());
  std::filesystem::create_directories(folder);
  experiments::Run::Options options;
  options.output = folder / "out.h5";
  options.overwrite = true;
  options.environment = {{"host", "test"}};
  options.find_arm = lookup;
  auto outcome = experiments::Run(plan, comm::select_backend("threads"), options).run(stop);
  std::filesystem::remove_all(folder);
  return outcome;
}

void nothing(int, std::int64_t, ops::Operands&, const ops::PreparedOperation&) {}

}  // namespace

TEST_CASE("a wrong result fails its cell before it is timed, and the reason says where", "[run]") {
  Fault swapped{[](int rank, std::int64_t, ops::Operands& operands, const ops::PreparedOperation& prepared) {
    if (rank != 1 || operands.operation().name != "out_dgrad") return;
    auto q = operands.heads(prepared.current_set())[core::Head::query];
    std::swap_ranges(q.row(0), q.row(0) + 8, q.row(0) + 8);
  }};
  const auto outcome = run({.tokens = "8"}, swapped);
  REQUIRE(outcome.record.cells.size() == 1);
  const CellRecord& cell = outcome.record.cells[0];
  CHECK(cell.status == "failed");
  CHECK(cell.reason.find("validation") != std::string::npos);
  CHECK(cell.reason.find("out_dgrad") != std::string::npos);
  CHECK(cell.reason.find("faulty") != std::string::npos);
  CHECK(outcome.validation_failed);
  for (const double t : cell.latency) CHECK(t != t);
}

TEST_CASE("NaN in one element fails the cell", "[run]") {
  Fault nan{[](int rank, std::int64_t, ops::Operands& operands, const ops::PreparedOperation&) {
    if (rank == 0 && operands.operation().name == "out_fwd") operands.hidden().row(3)[5] = core::Bf16::from_float(std::numeric_limits<float>::quiet_NaN());
  }};
  const auto outcome = run({.tokens = "8"}, nan);
  CHECK(outcome.failed == 1);
  CHECK(outcome.validation_failed);
}

TEST_CASE("a rank that throws costs its cell alone", "[run]") {
  Fault once{[](int rank, std::int64_t launch, ops::Operands& operands, const ops::PreparedOperation&) {
    if (rank == 1 && launch == 1 && operands.problem().M() == 8) throw core::Error(core::ErrorKind::cell, "the disk of rank one is on fire");
  }};
  const auto outcome = run({}, once);
  CHECK(outcome.failed == 1);
  CHECK(outcome.measured == 1);
  for (const auto& cell : outcome.record.cells)
    if (cell.tokens_per_rank == 8) {
      CHECK(cell.reason.find("rank 1") != std::string::npos);
      CHECK(cell.reason.find("on fire") != std::string::npos);
    } else {
      CHECK(cell.status == "measured");
    }
}

TEST_CASE("counts come from the spec on every rank, however slow one is", "[run]") {
  Fault slow{[](int rank, std::int64_t, ops::Operands&, const ops::PreparedOperation&) {
    if (rank == 1) std::this_thread::sleep_for(std::chrono::microseconds(300));
  }};
  const auto before = run({.operations = "[qkv_fwd]", .tokens = "8", .measure = "warmup: 1, observations: 1, cell_timeout: 20 s"}, slow);
  REQUIRE(before.measured == 1);
  const auto checks = slow.launches.load() - 2 * 2 * (1 + 1);  // launches of the gate, on both ranks; 2 ranks x 2 blocks x (warmup + observations)
  slow.launches = 0;
  const auto after = run({.operations = "[qkv_fwd]", .tokens = "8", .measure = "warmup: 10, observations: 40, cell_timeout: 20 s"}, slow);
  REQUIRE(after.measured == 1);
  CHECK(slow.launches == checks + 2 * 2 * 50);
  CHECK(after.record.cells[0].observations == 40);
}

TEST_CASE("a slow first call is a warm-up, not an observation", "[run]") {
  Fault first{[](int, std::int64_t launch, ops::Operands&, const ops::PreparedOperation&) {
    if (launch == 0) std::this_thread::sleep_for(std::chrono::seconds(2));
  }};
  const auto outcome = run({.operations = "[out_dgrad]", .tokens = "8", .measure = "warmup: 10, observations: 40, cell_timeout: 20 s"}, first);
  REQUIRE(outcome.measured == 1);
  const auto& cell = outcome.record.cells[0];
  CHECK(cell.latency.size() == 1u * 2 * 2 * 40 * 2);
  CHECK(*std::max_element(cell.latency.begin(), cell.latency.end()) < 1.9);  // a bound of the fault, not of the machine
}

TEST_CASE("a cell that lasts too long fails and names the limit", "[run]") {
  Fault forever{[](int, std::int64_t, ops::Operands&, const ops::PreparedOperation&) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }};
  const auto outcome = run({.operations = "[qkv_fwd]", .tokens = "8", .measure = "warmup: 10, observations: 1000, cell_timeout: 1 s"}, forever);
  CHECK(outcome.failed == 1);
  CHECK(outcome.record.cells[0].reason.find("cell_timeout") != std::string::npos);
}

TEST_CASE("a wish to stop leaves the cell in hand and the rest unfinished", "[run]") {
  std::atomic<bool> stop = false;
  Fault stopping{[&](int, std::int64_t launch, ops::Operands&, const ops::PreparedOperation&) {
    if (launch == 3) stop = true;
  }};
  const auto outcome = run({}, stopping, stop);
  CHECK(outcome.unfinished == 2);
  CHECK(outcome.measured == 0);
  CHECK(outcome.record.cells[0].status == "incomplete");
}

TEST_CASE("nothing wrong: everything measured", "[run]") {
  Fault none{nothing};
  const auto outcome = run({}, none);
  CHECK(outcome.measured == 2);
  CHECK(outcome.failed == 0);
  for (const auto& cell : outcome.record.cells) {
    for (const double t : cell.latency) CHECK(t > 0);
    for (std::size_t i = 0; i < cell.error_frobenius.size(); ++i) CHECK(cell.error_frobenius[i] <= cell.error_bound[i]);
  }
}

}  // namespace megaup
