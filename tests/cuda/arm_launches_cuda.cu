#include <arm_cases_cuda.cuh>
#include <graph_cuda.cuh>

#include <megaup/ops/gate.hpp>
#include <megaup/ops/gate_tensors.hpp>
#include <megaup/tests/conformance/worlds.hpp>

namespace megaup::cuda_tests {

namespace {

/// 50 launches with new data each and nothing between them that would make ranks meet. Rank 1 is late before launches 7
/// and 8; another rank is late after some: its result must stay, and its inputs may change as soon as its stream has
/// passed the launch.
void check_launches(comm::Communicator& group, const Case& c, Findings& findings) {
  constexpr std::uint64_t kLaunches = 50;
  const auto ready = prepared(group, c, findings);
  if (!ready) return;
  std::string why;
  for (std::uint64_t launch = 0; launch < kLaunches; ++launch) {
    const ops::InputKey key{.seed = 5, .launch = launch};
    ops::fill_inputs(ready->operands, key);
    if (group.rank() == 1 && (launch == 7 || launch == 8)) conformance::sleep_ms(50);
    ready->operation->run();
    ready->device.synchronize();
    if (group.rank() == static_cast<int>(launch / 10) % group.size() && launch % 10 == 3) conformance::sleep_ms(10);
    if (why.empty())
      if (const std::string found = complaint(*ready, key); !found.empty())
        why = "launch " + std::to_string(launch) + " on rank " + std::to_string(group.rank()) + ": " + found;
  }
  findings.expect(why.empty(), c.words() + " " + why);
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
void check_bits(comm::Communicator& group, const Case& c, Findings& findings) {
  const auto first = prepared(group, c, findings);
  if (!first) return;
  Prepared again(group, c, findings);
  bool same = false;
  try {
    // All three on every rank, whatever the first two were.
    const auto bits = bits_of_one_launch(group, *first), second = bits_of_one_launch(group, *first);
    const auto third = bits_of_one_launch(group, again);
    same = bits == second && bits == third;
  } catch (const ops::LaunchFault& fault) {
    findings.expect(false, c.words() + ": " + fault.what());
  }
  findings.expect(same, c.words() + " on rank " + std::to_string(group.rank()) + ": other bits for the same inputs");
  group.barrier();
}

/// Two launches in a graph (two, because sets of heads and receive buffers take turns), replayed: epochs are counted on
/// the device, so every replay is a new launch. So are launches without a graph before and after it.
void check_graph(comm::Communicator& group, const Case& c, Findings& findings) {
  constexpr int kReplays = 500;
  const auto ready = prepared(group, c, findings);
  if (!ready) return;
  const ops::InputKey key{.seed = 17};
  ops::fill_inputs(ready->operands, key);
  const auto checked = [&](const std::string& what, int times, const auto& launch) {
    ops::poison_all(*ready->operation, ready->operands);
    group.barrier();
    for (int i = 0; i < times; ++i) launch();
    ready->device.synchronize();
    const std::string why = complaint(*ready, key);
    findings.expect(why.empty(), c.words() + " " + what + ", rank " + std::to_string(group.rank()) + ": " + why);
    group.barrier();
  };
  const auto run = [&] { ready->operation->run(); };
  checked("before a graph", 1, run);
  const Graph graph(ready->device, 2, run);
  checked("after " + std::to_string(2 * kReplays) + " launches of a graph", kReplays, [&] { graph.replay(); });
  checked("after a graph", 1, run);
}

/// A graph of one launch replayed twice, or of two replayed after a launch outside it: the second time uses buffers out
/// of turn, and must say so.
void check_out_of_turn(comm::Communicator& group, const Case& c, int captured, Findings& findings) {
  if (!begins(group, c, findings)) return;
  Prepared prepared(group, c, findings);
  ops::poison_all(*prepared.operation, prepared.operands);  // an even number of exchanges
  group.barrier();
  const Graph graph(prepared.device, captured, [&] { prepared.operation->run(); });
  const auto fault_after = [&](const auto& launch) {
    group.barrier();
    launch();
    prepared.device.synchronize();
    return prepared.operation->fault().value_or("no fault");
  };
  const auto replay = [&] { graph.replay(); };
  const std::string words = c.words() + " with a graph of " + std::to_string(captured) + ", ";
  const std::string first = captured == 1 ? fault_after(replay) : fault_after([&] { prepared.operation->run(); });
  findings.expect(first == "no fault", words + "in turn: " + first);
  const std::string second = fault_after(replay);
  findings.expect(second.find("even number of runs") != std::string::npos, words + "out of turn: " + second);
  group.barrier();
}

/// Rank 0 alone on the whole device, its peers' data taken as arrived: every launch must end by itself.
void check_alone(comm::Communicator& group, const Case& c, int launches, Findings& findings) {
  if (!begins(group, c, findings)) return;
  const bool alone = group.rank() == 0;
  group.device()->use_whole(alone);
  const auto prepare = [&] { return std::make_unique<Prepared>(group, c, findings); };
  if (const auto ready = unless_refused(group, c, findings, prepare)) {
    ops::fill_inputs(ready->operands, {.seed = 23});
    group.barrier();
    if (alone) {
      ready->operation->assume_peers_arrived();
      for (int launch = 0; launch < launches; ++launch) ready->operation->run();
      ready->device.synchronize();
      const core::Reason why = ready->operation->fault();
      findings.expect(!why, c.words() + " alone: " + why.value_or(""));
    }
    group.barrier();
  }
  group.device()->use_whole(false);
}

/// Prepared operations of several problems, all there at the same time, launched in turn with new data each.
void check_turns(comm::Communicator& group, const std::vector<Case>& cases, Findings& findings) {
  constexpr std::uint64_t kTurns = 3;
  std::vector<std::unique_ptr<Prepared>> all;
  std::vector<const Case*> begun;
  for (const Case& c : cases)
    if (auto ready = prepared(group, c, findings)) {
      all.push_back(std::move(ready));
      begun.push_back(&c);
    }
  std::vector<std::string> why(all.size());
  for (std::uint64_t turn = 0; turn < kTurns; ++turn)
    for (std::size_t i = 0; i < all.size(); ++i) {
      const ops::InputKey key{.seed = 31 + i, .launch = turn};
      ops::fill_inputs(all[i]->operands, key);
      all[i]->operation->run();
      all[i]->device.synchronize();
      if (why[i].empty()) why[i] = complaint(*all[i], key);
    }
  for (std::size_t i = 0; i < all.size(); ++i)
    findings.expect(why[i].empty(),
                    begun[i]->words() + " beside others, rank " + std::to_string(group.rank()) + ": " + why[i]);
  group.barrier();
}

}  // namespace

void check_sequences(comm::Communicator& group, Findings& findings) {
  const std::vector<core::Problem> some = problems(group.size());
  each_arm([&](const ops::Operation& op, const ops::Arm& arm) {
    check_launches(group, {op, arm, some.front()}, findings);
    check_bits(group, {op, arm, some.back()}, findings);
    check_graph(group, {op, arm, some.front()}, findings);
    if (arm.name == "native_packed_ce" || (arm.name == "fused" && op.kind == ops::Kind::gemm_to_a2a))
      for (const int captured : {1, 2}) check_out_of_turn(group, {op, arm, some.front()}, captured, findings);
  });
}

void check_side_by_side(comm::Communicator& group, Findings& findings) {
  for (const std::string_view name : {"fused", "native_packed_ce"}) {
    std::vector<Case> cases;
    for (const core::Problem& problem : problems(group.size()))
      each_arm([&](const ops::Operation& op, const ops::Arm& arm) {
        if (arm.name == name) cases.push_back({op, arm, problem});
      });
    check_turns(group, cases, findings);
  }
}

void check_solo(comm::Communicator& group, const core::Problem& problem, int launches, Findings& findings) {
  each_arm(
      [&](const ops::Operation& op, const ops::Arm& arm) {
        check_alone(group, {op, arm, problem}, launches, findings);
      },
      true);
}

}  // namespace megaup::cuda_tests
