#include <array>
#include <atomic>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <catch2/catch_test_macros.hpp>

#include <megaup/analysis/sequential.hpp>
#include <megaup/comm/backend.hpp>
#include <megaup/experiments/plan.hpp>
#include <megaup/experiments/run.hpp>
#include <megaup/ops/arm.hpp>
#include <megaup/ops/operation.hpp>

/// The order in which the runner calls the arms, seen by the arms themselves: control, sequence, burn-in, schedules, stopping.
namespace megaup {
namespace {

using core::CellRecord;

/// What the arms of a run were asked to do, written by rank 0 alone: one letter an operation (a to d), one digit an arm, for each launch.
struct Log {
  std::vector<std::string> launches;
  bool idle = false;  ///< the second arm does nothing once it was checked
  std::array<std::atomic<int>, 2> prepared{};
};
Log* log_of_run = nullptr;  // Arm rows are plain functions: they cannot carry it

template <int kNumber>
class Logged : public ops::PreparedOperation {
 public:
  Logged(ops::Operands& operands, const ops::Context& context)
      : letter_(static_cast<char>('a' + operands.operation().position)),
        rank_(context.communicator.rank()),
        checked_(log_of_run->prepared[kNumber]++ >=
                 2 * 4),  // the gate prepares each arm once for 4 operations, on 2 ranks
        real_(ops::find_arm("native_packed", operands.operation().kind)->prepare(operands, context)) {}
  void run() override {
    if (rank_ == 0) log_of_run->launches.push_back(fmt::format("{}{}", letter_, kNumber));
    if (!(log_of_run->idle && kNumber == 1 && checked_)) real_->run();
  }
  int current_set() const override { return real_->current_set(); }
  void poison() override { real_->poison(); }

 private:
  char letter_;
  int rank_;
  bool checked_;
  std::unique_ptr<ops::PreparedOperation> real_;
};

template <ops::Kind kKind, int kNumber>
const ops::Arm kLogged{
    kNumber == 0 ? "native_packed" : "fused",
    "native_packed, seen",
    kKind,
    ops::Place::host,
    false,
    [](const ops::Operation&, const core::Problem&, const ops::Context&) { return core::Reason(); },
    [](ops::Operands& operands, const ops::Context& context) -> std::unique_ptr<ops::PreparedOperation> {
      return std::make_unique<Logged<kNumber>>(operands, context);
    },
    [](const ops::Operation&, const core::Problem&, std::string_view) -> std::int64_t { return 0; }};

const ops::Arm* lookup(std::string_view name, ops::Kind kind) {
  using enum ops::Kind;
  if (name == "native_packed") return kind == gemm_to_a2a ? &kLogged<gemm_to_a2a, 0> : &kLogged<a2a_to_gemm, 0>;
  if (name == "fused") return kind == gemm_to_a2a ? &kLogged<gemm_to_a2a, 1> : &kLogged<a2a_to_gemm, 1>;
  return nullptr;
}

constexpr std::string_view kSpec =
    "spec_version: 1\nname: protocol\nmodels: {tiny: {hidden: 32, query_heads: 4, kv_heads: 2, head_dim: 8}}\n"
    "workload: {batch: 2}\nmatrix: {model: [tiny], cp: [2], tokens_per_rank: [8]}\n";
constexpr std::string_view kWithSequence = "operations: [qkv_fwd, out_fwd, out_dgrad, qkv_dgrad, sequence]\n";

experiments::Plan plan_of(std::string_view rest) {
  std::vector<std::string_view> operations;
  for (const auto* op : ops::operations()) operations.push_back(op->name);
  const std::vector<std::string_view> arms{"native_packed", "fused"}, bounds;
  return experiments::plan(
      experiments::parse_spec(fmt::format("{}{}", kSpec, rest), "protocol.yaml", {operations, arms, bounds}),
      {.version = "test"});
}

CellRecord run(std::string_view rest, Log& log, const experiments::Stopping& stopping = {}) {
  log_of_run = &log;
  const auto plan = plan_of(rest);
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("megaup-protocol-test-{}", getpid());
  std::filesystem::create_directories(folder);
  experiments::Run::Options options;
  options.output = folder / "out.h5";
  options.overwrite = true;
  options.environment = {{"host", "test"}};
  options.find_arm = lookup;
  options.stopping = stopping;
  const std::atomic<bool> never = false;
  const auto outcome = experiments::Run(plan, comm::select_backend("threads"), options).run(never);
  const auto stored = core::read_record(options.output);
  std::filesystem::remove_all(folder);
  REQUIRE(stored.cells.size() == 1);
  INFO(stored.cells[0].reason);
  CHECK(core::violations(stored).size() == 0);
  return stored.cells[0];
}

/// The launches of the last blocks, joined: the gate's come before.
std::string last(const Log& log, std::size_t n) {
  REQUIRE(log.launches.size() >= n);
  std::string text;
  for (std::size_t i = log.launches.size() - n; i < log.launches.size(); ++i)
    text += (text.empty() ? "" : " ") + log.launches[i];
  return text;
}

}  // namespace

TEST_CASE("the control runs the first baseline again, in both orders", "[run]") {
  Log log;
  const auto cell = run("arms: {control: true}\nmeasure: {warmup: 0, observations: 1}\n", log);
  CHECK(cell.arms == std::vector<std::string>{"native_packed", "fused", "control"});
  CHECK(last(log, 24) == "a0 a1 a0 b0 b1 b0 c0 c1 c0 d0 d1 d0 d0 d1 d0 c0 c1 c0 b0 b1 b0 a0 a1 a0");
  for (const double time : cell.latency) CHECK(time > 0);
}

TEST_CASE("the sequence runs all four back to back as one observation", "[run]") {
  Log log;
  const auto cell = run(std::string(kWithSequence) + "measure: {warmup: 1, observations: 2}\n", log);
  CHECK(cell.operations.back() == "sequence");
  CHECK(cell.status == "measured");
  // The reversed block begins with it: the fused arm first, three times (one warm-up), then the baseline.
  const std::string fused = "a1 b1 c1 d1", base = "a0 b0 c0 d0";
  CHECK(last(log, 24 + 24).substr(0, 24 * 3 - 1) == fmt::format("{0} {0} {0} {1} {1} {1}", fused, base));
  for (std::size_t arm = 0; arm < 2; ++arm) {
    CHECK(cell.error_bound[0 * 2 + arm] > 0);
    CHECK(cell.error_bound[4 * 2 + arm] != cell.error_bound[4 * 2 + arm]);  // its parts were checked one by one
  }
}

TEST_CASE("interleaved arms take turns", "[run]") {
  Log log;
  const auto cell = run("measure: {warmup: 1, observations: 2, schedule: interleaved}\n", log);
  CHECK(last(log, 48).substr(0, 18 * 3 - 1) == "a0 a1 a0 a1 a0 a1 b0 b1 b0 b1 b0 b1 c0 c1 c0 c1 c0 c1");
  CHECK(last(log, 6) == "a1 a0 a1 a0 a1 a0");  // and reversed
  CHECK(cell.latency.size() == 4u * 2 * 2 * 2 * 2);
  CHECK(std::get<std::string>(cell.extra.at("schedule")) == "interleaved");
  Log blocked;
  run("measure: {warmup: 1, observations: 2}\n", blocked);
  CHECK(last(blocked, 6) == "a1 a1 a1 a0 a0 a0");
  CHECK(blocked.launches.size() == log.launches.size());
}

TEST_CASE("the burn-in pair runs first and is not kept", "[run]") {
  Log without, with;
  run("measure: {warmup: 0, observations: 1}\n", without);
  const auto cell = run("measure: {warmup: 0, observations: 1, burn_in: true}\n", with);
  CHECK(with.launches.size() == without.launches.size() + 16);
  CHECK(last(with, 32).substr(0, 16 * 3 - 1) == last(with, 16));  // the same pair twice
  CHECK(cell.order == std::vector<std::uint8_t>{0, 1});
  CHECK(std::get<std::int64_t>(cell.extra.at("burn_in_pairs")) == 1);
}

TEST_CASE("a cell ends at the first look at which Delta is known well enough", "[run]") {
  std::map<std::size_t, int> asked;  // number of blocks -> how often
  experiments::Stopping stopping{[](const experiments::Stop& stop) { return analysis::looks(stop.max_pairs); },
                                 [&](const CellRecord& so_far, const experiments::Stop& stop) {
                                   CHECK(stop.half_width_s == 1e-3);
                                   CHECK(so_far.status == "measured");
                                   for (const double time : so_far.latency) CHECK(time > 0);
                                   ++asked[so_far.order.size()];
                                   return so_far.order.size() == 8;
                                 }};
  Log log;
  const auto cell =
      run("measure: {warmup: 0, observations: 2, stop: {half_width: 1 ms, max_pairs: 20}}\nvalidate: {seed: 5}\n", log,
          stopping);
  CHECK(asked == std::map<std::size_t, int>{{4, 1}, {8, 1}});  // one rank asks, at the looks only
  CHECK(cell.order.size() == 8);
  const auto planned = experiments::block_kinds(plan_of("measure: {pairs: 20}\nvalidate: {seed: 5}\n").spec);
  CHECK(cell.order == std::vector<std::uint8_t>(planned.begin(), planned.begin() + 8));
  CHECK(cell.latency.size() == 4u * 2 * 8 * 2 * 2);
  CHECK(cell.started.size() == 4u * 2 * 8);
  CHECK(std::get<std::int64_t>(cell.extra.at("stop_looks")) == 5);  // 2, 4, 8, 16, 20
  for (const double time : cell.latency) CHECK(time > 0);
}

TEST_CASE("a cell that is never known well enough ends with its last pair", "[run]") {
  experiments::Stopping stopping{[](const experiments::Stop& stop) { return analysis::looks(stop.max_pairs); },
                                 [](const CellRecord&, const experiments::Stop&) { return false; }};
  Log log;
  CHECK(run("measure: {warmup: 0, observations: 1, stop: {half_width: 1 ns, max_pairs: 3}}\n", log, stopping)
            .order.size() == 6);
}

TEST_CASE("a spec with 'stop' and a caller without a rule", "[run]") {
  Log log;
  CHECK_THROWS_AS(run("measure: {stop: {half_width: 1 ms}}\n", log), core::Error);
}

TEST_CASE("validate: every sees what another arm left behind", "[run]") {
  const std::string every = std::string(kWithSequence) +
                            "measure: {warmup: 1, observations: 2, schedule: interleaved}\nvalidate: {mode: every}\n";
  Log honest;
  CHECK(run(every, honest).status == "measured");
  Log idle{.idle = true};
  const auto cell = run(every, idle);
  CHECK(cell.status == "failed");
  CHECK(cell.reason.find("fused") != std::string::npos);
}

}  // namespace megaup
