#include <megaup/ops/gate.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/comm/backend.hpp>
#include <megaup/ops/gate_tensors.hpp>
#include <megaup/ops/numeric_check.hpp>
#include <megaup/ops/structure_check.hpp>

namespace megaup::ops {
namespace {

using Catch::Matchers::ContainsSubstring;

const core::Problem kProblem{.P = 1, .B = 2, .s = 40, .H = 64, .Hq = 4, .Hk = 2, .D = 16};

/// A launched native arm on one rank: this thread.
struct Launched {
  Operands operands;
  std::unique_ptr<PreparedOperation> prepared;

  Launched(const char* op, comm::Communicator& group)
      : operands(*find_operation(op), kProblem, group),
        prepared(find_arm("native_packed", operands.operation().kind)->prepare(operands, {.communicator = group})) {
    fill_inputs(operands, {.seed = 9});
    run_poisoned(*prepared, operands, group);
  }
};

/// The gate's numeric pass on what the last launch wrote, whose inputs had that key.
Verdict verdict_of(const PreparedOperation& prepared, Operands& operands, comm::Communicator& group,
                   const InputKey& key = {.seed = 9}) {
  return check_output(prepared, operands, group, expected_output(operands, key));
}

void alone(const std::function<void(comm::Communicator&)>& body) {
  comm::select_backend("self").launch({.ranks = 1}, body);
}

TEST_CASE("operations come in the order of a training step, and arms are found by name and kind") {
  std::vector<std::string_view> names;
  for (const Operation* op : operations()) names.push_back(op->name);
  CHECK(names == std::vector<std::string_view>{"qkv_fwd", "out_fwd", "out_dgrad", "qkv_dgrad"});
  for (const Kind kind : {Kind::gemm_to_a2a, Kind::a2a_to_gemm}) {
    for (const char* arm : {"native_packed", "native_pipelined", "native_chunked", "fused"}) {
      REQUIRE(find_arm(arm, kind));
      CHECK_FALSE(find_arm(arm, kind)->bound);
    }
    for (const char* arm : {"gemm_only", "exchange_only", "reorder_only"}) {
      REQUIRE(find_arm(arm, kind));
      CHECK(find_arm(arm, kind)->bound);
    }
    CHECK_FALSE(find_arm("no_such_arm", kind));
  }
  CHECK_FALSE(find_operation("oproj"));
}

TEST_CASE("inputs are full-range random numbers: under one zero in a hundred, mean 0, standard deviation 1") {
  alone([](comm::Communicator& group) {
    for (const char* op : {"qkv_fwd", "qkv_dgrad"}) {
      const Launched launched(op, group);
      const InputStatistics statistics = input_statistics(launched.operands);
      CHECK(statistics.zero_fraction < 0.01);
      CHECK(std::abs(statistics.mean) < 0.02);
      CHECK(std::abs(statistics.standard_deviation - 1) < 0.02);
    }
  });
}

TEST_CASE(
    "inputs differ by seed, launch, tensor, rank and element, and are the same again for the same key; weights do not "
    "differ by rank") {
  const auto first = [](const InputKey& key, InputTensor tensor, std::int64_t rank) {
    std::vector<std::uint16_t> bits;
    for (std::int64_t i = 0; i < 64; ++i) bits.push_back(RandomInput(key, tensor, rank)(i).bits);
    return bits;
  };
  const auto base = first({1, 0}, InputTensor::hidden, 0);
  CHECK(base == first({1, 0}, InputTensor::hidden, 0));
  CHECK(base != first({2, 0}, InputTensor::hidden, 0));
  CHECK(base != first({1, 1}, InputTensor::hidden, 0));
  CHECK(base != first({1, 0}, InputTensor::query, 0));
  CHECK(base != first({1, 0}, InputTensor::hidden, 1));
  CHECK(std::set<std::uint16_t>(base.begin(), base.end()).size() > 50);
  CHECK(first({1, 0}, InputTensor::weight, 0) == first({1, 0}, InputTensor::weight, 3));
}

TEST_CASE("a seed gives the same inputs in every version, and however many threads write them") {
  CHECK(RandomInput({.seed = 7, .launch = 3}, InputTensor::hidden, 2)(0).bits == 0x3f35);
  CHECK(RandomInput({.seed = 7, .launch = 3}, InputTensor::weight, 2)(1).bits == 0xbfc1);
  CHECK(RandomInput({.seed = 7, .launch = 3}, InputTensor::value, 2)(1000000).bits == 0xbf08);
  alone([](comm::Communicator& group) {
    Operands operands(*find_operation("qkv_dgrad"), kProblem, group, 3, 3),
        of_one(*find_operation("qkv_dgrad"), kProblem, group);
    for (Operands* each : {&operands, &of_one}) fill_inputs(*each, {.seed = 7});
    CHECK(input_statistics(operands).standard_deviation == input_statistics(of_one).standard_deviation);
    for (const NamedMatrix& input : input_matrices(operands)) {
      CAPTURE(input.name);
      const RandomInput random({.seed = 7}, input.tensor, 0);
      const core::Bf16Matrix& m = input.matrix;
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < m.rows; ++i)
        for (std::int64_t j = 0; j < m.ld; ++j)
          wrong += m.row(i)[j] != (j < m.columns ? random(i * m.columns + j) : kPoison);
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("codes are distinct finite numbers, zero and poison not among them") {
  std::set<std::uint16_t> bits;
  for (std::int64_t i = 0; i < kCodes; ++i) {
    bits.insert(code(i).bits);
    if (!std::isnormal(code(i).to_float())) FAIL("code " << i << " is not normal");
  }
  CHECK(static_cast<std::int64_t>(bits.size()) == kCodes);
}

TEST_CASE("more tokens or columns than codes are told apart digit by digit") {
  const core::Problem many{
      .P = 8, .B = 8, .s = 4096, .H = 100, .Hq = 8, .Hk = 8, .D = 128};  // 262,144 tokens, 3072 columns
  const auto gemm_first = structure_passes(*find_operation("qkv_fwd"), many);
  CHECK(std::ranges::count(gemm_first, true, &StructurePass::tokens) == 2);
  CHECK(std::ranges::count(gemm_first, false, &StructurePass::tokens) == 2);  // 100^2 >= 3072 > 100
  const auto a2a_first = structure_passes(*find_operation("qkv_dgrad"), many);
  CHECK(a2a_first.size() == 31 * 3);  // 31 * 100 >= 3072; two token digits and one column digit
}

TEST_CASE("a NaN in the result fails, is counted, and its place is named") {
  alone([](comm::Communicator& group) {
    for (const char* op : {"qkv_fwd", "out_fwd"}) {
      Launched launched(op, group);
      REQUIRE(verdict_of(*launched.prepared, launched.operands, group).passed());
      output_matrices(launched.operands, 0).front().matrix.row(17)[5] = {0x7fc0};
      const Verdict verdict = verdict_of(*launched.prepared, launched.operands, group);
      CHECK_THAT(verdict.why, ContainsSubstring("1 elements are not finite, the first in row 17 column 5"));
      CHECK_THAT(verdict.why, ContainsSubstring(op));
      CHECK(verdict.error_max == std::numeric_limits<double>::infinity());
    }
  });
}

TEST_CASE("what nobody wrote is named as such, and so is a write between the rows") {
  alone([](comm::Communicator& group) {
    Operands operands(*find_operation("out_fwd"), kProblem, group, 3);
    const auto prepared = find_arm("native_packed", Kind::a2a_to_gemm)->prepare(operands, {.communicator = group});
    fill_inputs(operands, {.seed = 9});
    run_poisoned(*prepared, operands, group);
    REQUIRE(verdict_of(*prepared, operands, group).passed());
    const core::Bf16Matrix output = operands.hidden();
    output.row(3)[output.columns + 1] = {0};
    CHECK_THAT(verdict_of(*prepared, operands, group).why,
               ContainsSubstring("row 3: element 65 lies beyond its 64 columns"));
    output.row(3)[output.columns + 1] = kPoison;
    output.row(4)[7] = kPoison;
    CHECK_THAT(verdict_of(*prepared, operands, group).why, ContainsSubstring("row 4 column 7 (0xffff, never written)"));
  });
}

TEST_CASE("a stale result, and inputs of another key, fail") {
  alone([](comm::Communicator& group) {
    Launched launched("qkv_fwd", group);
    CHECK_FALSE(verdict_of(*launched.prepared, launched.operands, group, {.seed = 9, .launch = 1}).passed());
    fill_inputs(launched.operands, {.seed = 9, .launch = 1});  // new inputs, but no launch
    CHECK_FALSE(verdict_of(*launched.prepared, launched.operands, group, {.seed = 9, .launch = 1}).passed());
  });
}

TEST_CASE("the verdict carries the errors, the bound and the number of rows") {
  alone([](comm::Communicator& group) {
    Launched launched("qkv_fwd", group);
    const Verdict verdict = verdict_of(*launched.prepared, launched.operands, group);
    CHECK(verdict.passed());
    CHECK(verdict.rows_checked == 80);
    CHECK(verdict.error_bound == std::ldexp(1.0, -8) + (1 + std::ldexp(1.0, -8)) * 8 * 64 * std::ldexp(1.0, -24));
    CHECK((verdict.error_frobenius > 0.0005 &&
           verdict.error_frobenius < verdict.error_bound));  // rounding to BF16 is seen
    CHECK((verdict.error_max > 0.001 && verdict.error_max <= verdict.error_bound));
  });
}

TEST_CASE("a large output is checked at the boundaries of its runs and at random rows") {
  alone([](comm::Communicator& group) {
    core::Problem p = kProblem;
    p.format = core::ActivationFormat::bshd;
    p.order = core::SequenceOrder::dual_chunk;
    const Operands operands(*find_operation("qkv_fwd"), p, group);
    const double row = 64.0 * 128;  // multiplications
    CHECK(rows_to_check(operands, {.seed = 1}, 1e9).size() == 80);
    const auto few = rows_to_check(operands, {.seed = 1}, 20 * row);
    CHECK(few.size() == 20);
    for (const std::int64_t boundary : {0, 79}) CHECK(std::ranges::count(few, boundary) == 1);
    CHECK(few != rows_to_check(operands, {.seed = 2}, 20 * row));
  });
}

}  // namespace
}  // namespace megaup::ops
