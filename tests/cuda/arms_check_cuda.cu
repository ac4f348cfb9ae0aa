/// Every arm that runs on CUDA devices, through the gate: all operations and layouts, launch after launch with late ranks,
/// the same bits twice, captured graphs. Ranks are threads, each with a device of its own, or, where there are fewer
/// devices, with a part of one.
///
///   megaup_cuda_arms_check [seconds [ranks...]]
///     cases that have not begun after so many seconds are left out, and counted (default 600, divided among the numbers
///     of ranks); 2, 4 and 8 ranks
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include <megaup/comm/backend.hpp>
#include <megaup/comm/with_device.hpp>
#include <megaup/core/cuda_devices.hpp>
#include <megaup/ops/gate.hpp>
#include <megaup/ops/gate_tensors.hpp>
#include <megaup/ops/numeric_check.hpp>
#include <megaup/tests/conformance/worlds.hpp>
#include <megaup/tests/cuda/graph_cuda.cuh>
#include <megaup/tests/operations/cases.hpp>

namespace megaup::cuda_tests {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{3};

/// What the ranks found, counted on rank 0 (the gate's verdicts are the same on all).
struct Tally {
  Clock::time_point end;
  std::int64_t checks = 0, failures = 0, left_out = 0;
  std::map<std::string, std::int64_t> refusals;
  std::mutex mutex;

  void expect(bool right, const std::string& what) {
    const std::lock_guard lock(mutex);
    ++checks;
    if (right) return;
    if (++failures <= 20) std::printf("WRONG: %s\n", what.c_str());
    std::fflush(stdout);
  }
};

/// One arm of one operation on this rank.
struct Case {
  const ops::Operation& op;
  const ops::Arm& arm;
  core::Problem problem;
  std::int64_t padding = 0;

  std::string words() const {
    return std::string(op.name) + " " + std::string(arm.name) + " [" + operation_tests::in_words(problem) + "]" +
           (padding == 0 ? "" : " padding " + std::to_string(padding));
  }
};

struct Prepared {
  ops::Operands operands;
  std::unique_ptr<ops::PreparedOperation> operation;
  core::Device& device;

  Prepared(comm::Communicator& group, const Case& c)
      : operands(c.op, c.problem, group, c.padding),
        operation(c.arm.prepare(operands, {.communicator = group, .patience = kPatience})),
        device(*group.device()) {}
};

/// The same answer on all ranks: time is over, and no further case begins.
bool over(comm::Communicator& group, Tally& tally) {
  if (!group.any(group.rank() == 0 && Clock::now() > tally.end)) return false;
  if (group.rank() == 0) ++tally.left_out;
  return true;
}

/// Whether the case can run; what it refuses is counted by its words.
bool feasible(comm::Communicator& group, const Case& c, Tally& tally) {
  const core::Reason why = c.arm.infeasible(c.op, c.problem, {.communicator = group});
  if (!why) return true;
  const std::lock_guard lock(tally.mutex);
  if (group.rank() == 0) ++tally.refusals[std::string(c.arm.name) + ": " + *why];
  return false;
}

template <class Visit>
void each_arm(const Visit& visit) {
  for (const ops::Operation* op : ops::operations())
    for (const ops::Arm* arm : ops::arms())
      if (arm->kind == op->kind && arm->place == ops::Place::cuda && !arm->bound) visit(*op, *arm);
}

// --- layouts ---------------------------------------------------------------------------------------------------------

/// Grouped-query heads, as many KV heads as query heads, and replicated KV heads; 64 and 128 features.
std::vector<core::Problem> problems(std::int64_t P) {
  const core::Problem grouped{.P = P, .B = 2, .s = 256, .H = 192, .Hq = 16, .Hk = 8, .D = 64};
  core::Problem equal = grouped, replicated = grouped;
  equal.Hk = equal.Hq = 8;
  equal.D = 128;
  replicated.Hk = P / 2;
  replicated.kv_replication = true;
  return {grouped, equal, replicated};
}

void check_gate(comm::Communicator& group, const Case& c, Tally& tally) {
  if (over(group, tally) || !feasible(group, c, tally)) return;
  Prepared prepared(group, c);
  std::string why;
  try {
    why = ops::check_arm(*prepared.operation, prepared.operands, group, {.seed = 42}).why;
  } catch (const ops::LaunchFault& fault) {  // the ranks are still in step
    why = fault.what();
  }
  if (group.rank() == 0) tally.expect(why.empty(), c.words() + ": " + why);
}

/// Whether the layout is another one for this operation: without KV heads the order of the packed weight does not
/// matter, and packed sequences are those of bshd.
bool distinct(const ops::Operation& op, const core::Problem& problem) {
  if (problem.qkv_weight == core::QkvWeight::grouped && !problem.kv_replication) return true;
  if (op.columns == core::Columns::query) return false;
  return problem.qkv_weight == core::QkvWeight::grouped || problem.format != core::ActivationFormat::thd;
}

/// The fused arms first: time may not suffice for all.
void check_layouts(comm::Communicator& group, Tally& tally) {
  for (const bool fused : {true, false})
    for (const core::Problem& base : problems(group.size()))
      for (const core::Problem& problem : operation_tests::layouts_of(base))
        each_arm([&](const ops::Operation& op, const ops::Arm& arm) {
          if ((arm.name == "fused") == fused && distinct(op, problem)) check_gate(group, {op, arm, problem}, tally);
        });
}

/// Rows that are further apart than they are long: by a multiple of 16 bytes, and by two bytes.
void check_padding(comm::Communicator& group, Tally& tally) {
  for (const std::int64_t padding : {8, 1})
    each_arm([&](const ops::Operation& op, const ops::Arm& arm) {
      const Case c{op, arm, problems(group.size()).front(), padding};
      const bool fused = arm.name == "fused";
      if (!fused || (padding == 8 && op.kind == ops::Kind::gemm_to_a2a)) return check_gate(group, c, tally);
      if (over(group, tally)) return;
      std::string why;
      try {
        Prepared prepared(group, c);
      } catch (const core::Error& error) {
        why = error.what();
      }
      tally.expect(why.find("elements apart") != std::string::npos, c.words() + " was not refused: " + why);
      group.barrier();
    });
}

void check_self_test(comm::Communicator& group, Tally& tally) {
  each_arm([&](const ops::Operation& op, const ops::Arm& arm) {
    const Case c{op, arm, problems(group.size()).back()};
    if (over(group, tally) || !feasible(group, c, tally)) return;
    Prepared prepared(group, c);
    std::vector<std::string> unseen;
    try {
      unseen = ops::self_test(*prepared.operation, prepared.operands, group, {.seed = 3});
    } catch (const ops::LaunchFault& fault) {
      unseen.push_back(fault.what());
    }
    if (group.rank() == 0)
      tally.expect(unseen.empty(), c.words() + (unseen.empty() ? "" : ": not seen: " + unseen.front()));
  });
}

// --- launches --------------------------------------------------------------------------------------------------------

/// What is wrong with this rank's result of the launch; asks no other rank.
std::string complaint(Prepared& prepared, const ops::InputKey& key) {
  prepared.operands.outputs_from_device();
  const auto rows = ops::rows_to_check(prepared.operands, key, 2e6);
  const std::string why = ops::numeric_finding(prepared.operands, prepared.operation->current_set(), rows,
                                               ops::expected_rows(prepared.operands, key, rows))
                              .why;
  if (const core::Reason fault = prepared.operation->fault()) return *fault;
  return why;
}

/// 50 launches with new data each and nothing between them that would make ranks meet. Rank 1 is late before launches 7
/// and 8; another rank is late after some: its result must stay, and its inputs may change as soon as its stream has
/// passed the launch.
void check_launches(comm::Communicator& group, const Case& c, Tally& tally) {
  constexpr std::uint64_t kLaunches = 50;
  if (over(group, tally) || !feasible(group, c, tally)) return;
  Prepared prepared(group, c);
  std::string why;
  for (std::uint64_t launch = 0; launch < kLaunches; ++launch) {
    const ops::InputKey key{.seed = 5, .launch = launch};
    ops::fill_inputs(prepared.operands, key);
    if (group.rank() == 1 && (launch == 7 || launch == 8)) conformance::sleep_ms(50);
    prepared.operation->run();
    prepared.device.synchronize();
    if (group.rank() == static_cast<int>(launch / 10) % group.size() && launch % 10 == 3) conformance::sleep_ms(10);
    if (why.empty())
      if (const std::string found = complaint(prepared, key); !found.empty())
        why = "launch " + std::to_string(launch) + " on rank " + std::to_string(group.rank()) + ": " + found;
  }
  tally.expect(why.empty(), c.words() + " " + why);
  group.barrier();
}

/// Bits of all outputs after one launch.
std::vector<std::uint16_t> bits_of_one_launch(comm::Communicator& group, Prepared& prepared) {
  ops::fill_inputs(prepared.operands, {.seed = 11});
  ops::run_poisoned(*prepared.operation, prepared.operands, group);
  std::vector<std::uint16_t> bits;
  for (const ops::NamedMatrix& output : ops::output_matrices(prepared.operands, prepared.operation->current_set()))
    for (std::int64_t i = 0; i < output.matrix.rows; ++i)
      for (std::int64_t j = 0; j < output.matrix.columns; ++j) bits.push_back(output.matrix.row(i)[j].bits);
  return bits;
}

/// The same bits from launch to launch, and when it is prepared again while the first is still there.
void check_bits(comm::Communicator& group, const Case& c, Tally& tally) {
  if (over(group, tally) || !feasible(group, c, tally)) return;
  Prepared first(group, c), again(group, c);
  bool same = false;
  try {
    // All three on every rank, whatever the first two were.
    const auto bits = bits_of_one_launch(group, first), second = bits_of_one_launch(group, first);
    const auto third = bits_of_one_launch(group, again);
    same = bits == second && bits == third;
  } catch (const ops::LaunchFault& fault) {
    tally.expect(false, c.words() + ": " + fault.what());
  }
  tally.expect(same, c.words() + " on rank " + std::to_string(group.rank()) + ": other bits for the same inputs");
  group.barrier();
}

/// Two launches in a graph (two, because sets of heads and receive buffers take turns), replayed: epochs are counted on
/// the device, so every replay is a new launch. A launch without a graph before and after it is right too.
void check_graph(comm::Communicator& group, const Case& c, Tally& tally) {
  constexpr int kReplays = 500;
  if (over(group, tally) || !feasible(group, c, tally)) return;
  Prepared prepared(group, c);
  const ops::InputKey key{.seed = 17};
  ops::fill_inputs(prepared.operands, key);
  ops::poison_all(*prepared.operation, prepared.operands);
  prepared.operation->run();
  const Graph graph(prepared.device, 2, [&] { prepared.operation->run(); });
  group.barrier();
  for (int replay = 0; replay < kReplays; ++replay) graph.replay();
  prepared.device.synchronize();
  std::string why = complaint(prepared, key);
  tally.expect(why.empty(), c.words() + " after " + std::to_string(2 * kReplays) + " launches of a graph, rank " +
                                std::to_string(group.rank()) + ": " + why);
  prepared.operation->run();
  prepared.device.synchronize();
  why = complaint(prepared, key);
  tally.expect(why.empty(), c.words() + " after a graph, rank " + std::to_string(group.rank()) + ": " + why);
  group.barrier();
}

/// One launch in a graph, replayed: the second replay would use receive buffers out of turn, and must say so.
void check_odd_graph(comm::Communicator& group, const Case& c, Tally& tally) {
  if (over(group, tally) || !feasible(group, c, tally)) return;
  Prepared prepared(group, c);
  ops::poison_all(*prepared.operation, prepared.operands);
  const Graph graph(prepared.device, 1, [&] { prepared.operation->run(); });
  group.barrier();
  for (int replay = 0; replay < 2; ++replay) graph.replay();
  prepared.device.synchronize();
  const std::string why = prepared.operation->fault().value_or("no fault");
  tally.expect(why.find("even number of runs") != std::string::npos, c.words() + " with an odd graph: " + why);
  group.barrier();
}

/// Rank 0 alone on the whole device, its peers' data taken as arrived: every launch must end by itself. All arms, the
/// bounds too.
void check_solo(comm::Communicator& group, const Case& c, Tally& tally) {
  if (over(group, tally) || !feasible(group, c, tally)) return;
  const bool alone = group.rank() == 0;
  group.device()->use_whole(alone);
  {
    Prepared prepared(group, c);
    ops::fill_inputs(prepared.operands, {.seed = 23});
    group.barrier();
    if (alone) {
      prepared.operation->assume_peers_arrived();
      for (int launch = 0; launch < 5; ++launch) prepared.operation->run();
      prepared.device.synchronize();
      const core::Reason why = prepared.operation->fault();
      tally.expect(!why, c.words() + " alone: " + why.value_or(""));
    }
    group.barrier();
  }
  group.device()->use_whole(false);
}

void check_all_solo(comm::Communicator& group, Tally& tally) {
  for (const ops::Operation* op : ops::operations())
    for (const ops::Arm* arm : ops::arms())
      if (arm->kind == op->kind && arm->place == ops::Place::cuda)
        check_solo(group, {*op, *arm, problems(group.size()).front()}, tally);
}

void check_sequences(comm::Communicator& group, Tally& tally) {
  const std::vector<core::Problem> some = problems(group.size());
  each_arm([&](const ops::Operation& op, const ops::Arm& arm) {
    check_launches(group, {op, arm, some.front()}, tally);
    check_bits(group, {op, arm, some.back()}, tally);
    check_graph(group, {op, arm, some.front()}, tally);
    if (arm.name == "native_packed_ce") check_odd_graph(group, {op, arm, some.front()}, tally);
  });
}

// --- refusals --------------------------------------------------------------------------------------------------------

void check_refusals(comm::Communicator& group, Tally& tally) {
  core::Problem odd = problems(group.size()).front();
  odd.s = 96;  // no whole tiles of rows
  core::Problem foreign = problems(group.size()).front();
  foreign.P = 2 * group.size();
  each_arm([&](const ops::Operation& op, const ops::Arm& arm) {
    const ops::Context context{.communicator = group};
    if (group.rank() == 0) {
      tally.expect(arm.infeasible(op, foreign, context).has_value(), std::string(arm.name) + " took a foreign problem");
      const core::Reason why = arm.infeasible(op, odd, context);
      tally.expect(why.has_value() == (arm.name == "fused"),
                   std::string(op.name) + " " + std::string(arm.name) + " with 96 rows: " + why.value_or("feasible"));
    }
    group.barrier();
    if (arm.name != "fused") check_gate(group, {op, arm, odd}, tally);
  });
}

void check_ranks(comm::Communicator& host, bool share, Tally& tally) {
  const auto group = comm::with_device(host, {.share = share, .patience = std::chrono::seconds(20)});
  const auto started = Clock::now();
  const auto section = [&](const char* name) {
    if (group->rank() == 0)
      std::printf("P %d %s: %lld checks, %lld wrong, %.1f s\n", group->size(), name,
                  static_cast<long long>(tally.checks), static_cast<long long>(tally.failures),
                  std::chrono::duration<double>(Clock::now() - started).count());
    std::fflush(stdout);
  };
  check_refusals(*group, tally);
  section("refusals");
  check_sequences(*group, tally);
  section("sequences");
  if (share) check_all_solo(*group, tally);  // solo is for ranks that share a device
  section("solo");
  check_self_test(*group, tally);
  section("self-test");
  check_padding(*group, tally);
  section("padding");
  check_layouts(*group, tally);
  section("layouts");
}

int run(int seconds, const std::vector<int>& ranks) {
  if (const core::Reason why = core::no_cuda()) {
    std::printf("SKIPPED: %s\n", why->c_str());
    return 77;
  }
  const int devices = static_cast<int>(core::cuda_devices().size());
  Tally tally{};
  for (const int P : ranks) {
    tally.end = Clock::now() + std::chrono::seconds(seconds) / static_cast<int>(ranks.size());
    const bool share = P > devices;
    std::printf("P %d: %s\n", P, share ? "parts of one device" : "a device each");
    comm::select_backend("threads").launch({.ranks = P, .patience = std::chrono::seconds(60)},
                                           [&](comm::Communicator& host) { check_ranks(host, share, tally); });
  }
  for (const auto& [why, times] : tally.refusals)
    std::printf("refused %lld times, %s\n", static_cast<long long>(times), why.c_str());
  std::printf("%lld checks, %lld wrong, %lld cases left out for want of time\n", static_cast<long long>(tally.checks),
              static_cast<long long>(tally.failures), static_cast<long long>(tally.left_out));
  return tally.failures == 0 ? 0 : 1;
}

}  // namespace

}  // namespace megaup::cuda_tests

int main(int argc, char** argv) {
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);  // as megaup run sets them (docs/specs.md)
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  try {
    std::vector<int> ranks;
    for (int i = 2; i < argc; ++i) ranks.push_back(std::atoi(argv[i]));
    if (ranks.empty()) ranks = {2, 4, 8};
    return megaup::cuda_tests::run(argc > 1 ? std::atoi(argv[1]) : 600, ranks);
  } catch (const std::exception& error) {
    std::printf("STOPPED: %s\n", error.what());
    return 1;
  }
}
