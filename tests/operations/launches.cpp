// Launch after launch: new data each time, late ranks, several problems in one process, the same bits twice.
#include <fmt/format.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <megaup/ops/gate.hpp>
#include <megaup/ops/gate_tensors.hpp>
#include <megaup/ops/numeric_check.hpp>
#include <megaup/tests/conformance/worlds.hpp>
#include <megaup/tests/operations/cases.hpp>

namespace megaup::operation_tests {
namespace {

using conformance::expect;
using conformance::on_ranks;
using conformance::World;
using conformance::worlds;

std::vector<core::Problem> three_problems(int P) {
  core::Problem first = small_problems(P).back();
  core::Problem second = small_problems(P).front();
  second.format = core::ActivationFormat::bshd;
  second.order = core::SequenceOrder::dual_chunk;
  second.s = 14;
  core::Problem third = first;
  third.qkv_weight = core::QkvWeight::concatenated;
  third.H = 64;
  return {first, second, third};
}

/// One arm that is launched again and again.
struct Launched {
  const ops::Operation& op;
  ops::Operands operands;
  std::unique_ptr<ops::PreparedOperation> prepared;

  Launched(comm::Communicator& group, const core::Problem& problem, const ArmChoice& choice)
      : op(*ops::find_operation(choice.operation)),
        operands(op, problem, group),
        prepared(ops::find_arm(choice.arm, op.kind)
                     ->prepare(operands, {.communicator = group, .gemm_provider = providers(op, problem).front()})) {}
};

/// What is wrong with this rank's result of the launch; asks no other rank.
std::string complaint(const Launched& arm, const ops::InputKey& key) {
  const auto rows = ops::rows_to_check(arm.operands, key, 1e6);
  return ops::numeric_finding(arm.operands, arm.prepared->current_set(), rows,
                              ops::expected_rows(arm.operands, key, rows))
      .why;
}

/// Launch after launch with nothing between them that would make ranks meet. Rank 1 is late before launches 7 and 8;
/// another rank is late after some launches: its result must stay, and its inputs may change as soon as run() has
/// returned, however early its peers are.
void launch_many(comm::Communicator& group, const core::Problem& problem, const ArmChoice& choice,
                 std::uint64_t launches) {
  Launched arm(group, problem, choice);
  for (std::uint64_t launch = 0; launch < launches; ++launch) {
    const ops::InputKey key{.seed = 5, .launch = launch};
    ops::fill_inputs(arm.operands, key);
    if (group.rank() == 1 && (launch == 7 || launch == 8)) conformance::sleep_ms(50);
    arm.prepared->run();
    if (group.size() > 1 && group.rank() == static_cast<int>(launch / 10) % group.size() && launch % 10 == 3)
      conformance::sleep_ms(10);
    const std::string why = complaint(arm, key);
    expect(why.empty(),
           fmt::format("{} {} rank {} launch {}: {}", choice.operation, choice.arm, group.rank(), launch, why));
  }
}

TEST_CASE("each launch has its own data, also when a rank is late, and then two more problems") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](comm::Communicator& group) {
    for (const ArmChoice& choice : all_arms()) {
      std::uint64_t launches = choice.arm == "fused" ? 50 : 12;  // the others' flags are the exchange's, tested with it
      for (const core::Problem& problem : three_problems(group.size())) {
        launch_many(group, problem, choice, launches);
        launches = 5;
      }
    }
  });
}

// A rank that ends early changes its heads while others still multiply: they must have read them. Large enough to take
// milliseconds.
TEST_CASE("inputs may be changed as soon as a launch has returned, while peers are still busy") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](comm::Communicator& group) {
    const int P = group.size();
    const core::Problem problem{.P = P, .B = 1, .s = 256, .H = 256, .Hq = 8, .Hk = 8, .D = 64};
    for (const char* op : {"out_fwd", "qkv_dgrad"})
      for (const ArmChoice& choice : all_arms()) {
        if (choice.operation != op) continue;
        Launched arm(group, problem, choice);
        for (std::uint64_t launch = 0; launch < 5; ++launch) {
          const ops::InputKey key{.seed = 6, .launch = launch};
          ops::fill_inputs(arm.operands, key);
          arm.prepared->run();
          for (const ops::NamedMatrix& input : ops::input_matrices(arm.operands)) ops::poison(input.matrix);
          for (const ops::NamedMatrix& output : ops::output_matrices(arm.operands, 0))
            for (std::int64_t i = 0; i < output.matrix.rows; ++i)
              expect((output.matrix.row(i)[0].bits & 0x7f80) != 0x7f80,
                     fmt::format("{} {}: launch {} read what came after it", op, choice.arm, launch));
        }
      }
  });
}

/// Bits of all outputs, rows without gaps.
std::vector<std::uint16_t> output_bits(const Launched& arm) {
  std::vector<std::uint16_t> bits;
  for (const ops::NamedMatrix& output : ops::output_matrices(arm.operands, arm.prepared->current_set()))
    for (std::int64_t i = 0; i < output.matrix.rows; ++i)
      for (std::int64_t j = 0; j < output.matrix.columns; ++j) bits.push_back(output.matrix.row(i)[j].bits);
  return bits;
}

std::vector<std::uint16_t> bits_of_one_launch(comm::Communicator& group, Launched& arm) {
  ops::fill_inputs(arm.operands, {.seed = 11});
  ops::run_poisoned(*arm.prepared, arm.operands, group);
  return output_bits(arm);
}

// A chunked GEMM and a GEMM that begins with another shard of K may add in another order; the others differ in what
// they move alone.
TEST_CASE("an arm gives the same bits each time, and arms with the same GEMM give the same bits as each other") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](comm::Communicator& group) {
    for (const core::Problem& problem : three_problems(group.size()))
      for (const ops::Operation* op : ops::operations()) {
        std::vector<std::uint16_t> reference;
        for (const ArmChoice& choice : all_arms()) {
          if (choice.operation != op->name) continue;
          Launched arm(group, problem, choice), again(group, problem, choice);
          const auto first = bits_of_one_launch(group, arm);
          const std::string title = fmt::format("{} {}", choice.operation, choice.arm);
          expect(first == bits_of_one_launch(group, arm), title + ": second launch");
          expect(first == bits_of_one_launch(group, again), title + ": prepared again");
          if (choice.arm == "native_chunked" || (choice.arm == "fused" && op->kind == ops::Kind::a2a_to_gemm)) continue;
          if (reference.empty()) reference = first;
          expect(first == reference, title + ": against the first arm");
        }
      }
  });
}

TEST_CASE("the gate sees every damage that its self-test does to a correct result") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](comm::Communicator& group) {
    for (const core::Problem& problem : three_problems(group.size()))
      for (const ArmChoice& choice : all_arms()) {
        Launched arm(group, problem, choice);
        const auto unseen = ops::self_test(*arm.prepared, arm.operands, group, {.seed = 3});
        expect(unseen.empty(),
               unseen.empty() ? "" : fmt::format("{} {}: not seen: {}", choice.operation, choice.arm, unseen.front()));
      }
  });
}

}  // namespace
}  // namespace megaup::operation_tests
