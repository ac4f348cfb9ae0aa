// Shapes in which implementations go wrong: unusual head sizes, strided views, ragged tiles, odd sizes.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <megaup/ops/host_gemm.hpp>
#include <megaup/ops/operands.hpp>
#include <megaup/tests/conformance/worlds.hpp>
#include <megaup/tests/operations/cases.hpp>

namespace megaup::operation_tests {
namespace {

using conformance::expect;
using conformance::on_ranks;
using conformance::World;
using conformance::worlds;

void pass_the_gate(comm::Communicator& group, const core::Problem& problem, const CaseOptions& options = {}) {
  for (const ArmChoice& choice : all_arms()) {
    const std::string why = gate_failure(group, problem, choice, options);
    expect(why.empty(), why);
  }
}

/// Heads that P ranks can share.
std::int64_t query_heads(int P) { return P <= 2 ? 6 : P; }
std::int64_t kv_heads(int P) { return P <= 2 ? 2 : P; }

TEST_CASE("head sizes 64, 96, 192 and 256 work without padding") {
  const World world = GENERATE(from_range(worlds()));
  if (world.ranks > 4) return;  // more ranks show nothing new
  on_ranks(world, [&](comm::Communicator& group) {
    const int P = group.size();
    for (const std::int64_t D : {64, 96, 192, 256})
      for (const ArmChoice& choice : all_arms()) {
        if (choice.arm != "native_packed" && choice.arm != "fused") continue;  // the others move heads as native_packed
        const std::string why = gate_failure(
            group, {.P = P, .B = 1, .s = P == 2 ? 32 : 4, .H = 300, .Hq = 4, .Hk = P <= 2 ? 2 : 4, .D = D}, choice);
        expect(why.empty(), why);
      }
  });
}

TEST_CASE("strided operands give the result of packed ones, and nothing between the rows is read or written") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](comm::Communicator& group) {
    const int P = group.size();
    for (const core::Problem& problem : small_problems(P))
      for (const std::int64_t padding : {1, 256}) pass_the_gate(group, problem, {.padding = padding});
  });
}

TEST_CASE("ragged tiles: 130 rows, 200 columns or so, odd depth, with every GEMM provider") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](comm::Communicator& group) {
    const int P = group.size();
    for (std::size_t provider = 0; provider < ops::gemm_providers().size(); ++provider) {
      pass_the_gate(group,
                    {.P = P, .B = 1, .s = 130, .H = 107, .Hq = query_heads(P), .Hk = kv_heads(P), .D = P <= 2 ? 20 : 9},
                    {.provider = provider});
      pass_the_gate(group,
                    {.P = P,
                     .B = 5,
                     .s = 26,
                     .H = 107,
                     .Hq = query_heads(P),
                     .Hk = kv_heads(P),
                     .D = 7,
                     .format = core::ActivationFormat::bshd,
                     .order = core::SequenceOrder::dual_chunk},
                    {.padding = 3, .provider = provider});
    }
  });
}

TEST_CASE("two cores a rank") {
  const World world = GENERATE(from_range(worlds()));
  if (world.ranks > 2) return;  // more ranks show nothing new
  on_ranks(world, [&](comm::Communicator& group) {
    const core::Problem problem{.P = group.size(), .B = 1, .s = 260, .H = 136, .Hq = 8, .Hk = 2, .D = 40};
    for (std::size_t provider = 0; provider < ops::gemm_providers().size(); ++provider)
      pass_the_gate(group, problem, {.provider = provider, .threads = 2});
  });
}

TEST_CASE("several row chunks, the last one short") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](comm::Communicator& group) {
    core::Problem problem{.P = group.size(), .B = 3, .s = 750, .H = 24, .Hq = 8, .Hk = 8, .D = 4};
    problem.order = core::SequenceOrder::dual_chunk;
    for (const auto format : {core::ActivationFormat::sbhd, core::ActivationFormat::bshd})
      for (const std::string_view op : {"qkv_fwd", "qkv_dgrad"}) {
        problem.format = format;
        const std::string why = gate_failure(group, problem, {op, "native_chunked"});
        expect(why.empty(), why);
      }
  });
}

TEST_CASE("the smallest problem: one token, one head of one feature") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](comm::Communicator& group) {
    const int P = group.size();
    pass_the_gate(group, {.P = P, .B = 1, .s = 1, .H = 1, .Hq = P, .Hk = P, .D = 1});
    pass_the_gate(group, {.P = P, .B = 1, .s = 1, .H = 3, .Hq = P, .Hk = 1, .D = 1, .kv_replication = true});
  });
}

TEST_CASE("what cannot be done is refused by every arm with its reason, and by the operands before they allocate") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](comm::Communicator& group) {
    const int P = group.size();
    const core::Problem sound{.P = P, .B = 1, .s = 4, .H = 8, .Hq = P, .Hk = P, .D = 4};
    std::vector<core::Problem> unsound(5, sound);
    unsound[0].s = 0;
    unsound[1].D = -1;
    unsound[2].Hq = 2 * P + 1;
    unsound[2].Hk = 1;
    unsound[3].s = 3;
    unsound[3].order = core::SequenceOrder::dual_chunk;
    unsound[4].P = 2 * P;  // sound, but not for these ranks
    unsound[4].Hq = unsound[4].Hk = 2 * P;
    for (const core::Problem& problem : unsound)
      for (const ops::Arm* arm : ops::arms())
        for (const ops::Operation* op : ops::operations()) {
          if (op->kind != arm->kind || (P == 1 && &problem == &unsound[2])) continue;
          expect(arm->infeasible(*op, problem, {.communicator = group}).has_value(), in_words(problem));
        }
    bool thrown = false;
    try {
      ops::Operands operands(*ops::find_operation("qkv_fwd"), unsound[0], group);
    } catch (const core::Error& error) {
      thrown = error.kind() == core::ErrorKind::usage;
    }
    expect(thrown, "operands of a refused problem");
  });
}

}  // namespace
}  // namespace megaup::operation_tests
