#include <array>
#include <set>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <megaup/core/error.hpp>
#include <megaup/experiments/first_blocks.hpp>
#include <megaup/experiments/plan.hpp>
#include <megaup/experiments/spec.hpp>

using namespace megaup;
using namespace megaup::experiments;

/// What a spec says about the protocol beyond its counts: control, sequence, burn-in, schedule, stop.
namespace {

constexpr std::array<std::string_view, 4> kOperations{"qkv_fwd", "out_fwd", "out_dgrad", "qkv_dgrad"};
constexpr std::array<std::string_view, 2> kArms{"native_packed", "fused"};
constexpr std::array<std::string_view, 3> kBounds{"gemm_only", "exchange_only", "reorder_only"};
constexpr std::string_view kCells =
    "spec_version: 1\nname: t\nworkload: {batch: 8}\nmatrix: {model: qwen3-8b, cp: 2, tokens_per_rank: 64}\n";

Spec parse(std::string_view rest) {
  return parse_spec(std::string(kCells) + std::string(rest), "t.yaml", {kOperations, kArms, kBounds});
}

std::string refusal(std::string_view rest) {
  try {
    parse(rest);
  } catch (const core::Error& error) {
    CHECK(core::exit_status(error.kind()) == 2);
    return error.what();
  }
  FAIL("accepted: " << rest);
  return {};
}
bool refused(std::string_view rest, std::string_view part) {
  const auto text = refusal(rest);
  INFO(text);
  return text.find(part) != std::string::npos;
}

bool mentions(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

std::string identity(std::string_view rest) { return plan(parse(rest), {}).cells.front().identity; }

}  // namespace

TEST_CASE("the control is the first baseline under another name", "[spec]") {
  const auto spec = parse("arms: {baseline: [native_packed], control: true, bounds: false}\n");
  CHECK(spec.arms.all() == std::vector<std::string>{"native_packed", "fused", "control"});
  CHECK(spec.arms.row("control") == "native_packed");
  CHECK(spec.arms.row("fused") == "fused");
  CHECK_FALSE(parse("arms: {control: false}\n").arms.control);
  CHECK_FALSE(parse("").arms.control);
  CHECK(refused("arms: {control: native_packed}\n", "t.yaml:5:17: error: 'control' must be true or false"));
  CHECK(refused("arms: {candidate: control}\n", "'candidate' must be one of"));  // no row of its own
  CHECK(mentions(plan_table(plan(spec, {}), 100), "control is native_packed once more"));
}

TEST_CASE("the sequence is an operation beside all four", "[spec]") {
  const auto spec = parse("operations: [qkv_fwd, out_fwd, out_dgrad, qkv_dgrad, sequence]\n");
  CHECK(spec.operations.back() == kSequence);
  CHECK(parse("").operations.size() == 4);  // not by default
  CHECK(refused(
      "operations: [qkv_fwd, sequence, out_dgrad]\n",
      "t.yaml:5:13: error: 'sequence' is all operations back to back, to be held against their sum: it also needs "
      "out_fwd, qkv_dgrad by itself"));
  CHECK(refused("operations: [sequences]\n", "did you mean 'sequence'?"));
}

TEST_CASE("control, sequence and burn-in cost time and memory, and the plan counts them", "[plan]") {
  const auto cost = [](std::string_view rest) { return plan(parse(rest), {}).cells.front(); };
  const double plain = cost("").flop;  // three of the arms multiply
  CHECK(cost("arms: {control: true}\n").flop == Catch::Approx(plain * 4 / 3));
  CHECK(cost("operations: [qkv_fwd, out_fwd, out_dgrad, qkv_dgrad, sequence]\n").flop == Catch::Approx(plain * 2));
  CHECK(cost("measure: {burn_in: true}\n").flop == Catch::Approx(plain * 2));
  CHECK(cost("measure: {stop: {half_width: 1 ms, max_pairs: 8}}\n").flop == Catch::Approx(plain * 8));
  // The parts of a sequence, or the arms of an operation, exist at one time.
  CHECK(cost("operations: [qkv_fwd, out_fwd, out_dgrad, qkv_dgrad, sequence]\n").bytes_per_rank >
        cost("").bytes_per_rank);
  CHECK(cost("measure: {schedule: interleaved}\n").bytes_per_rank > cost("").bytes_per_rank);
}

TEST_CASE("the schedule, and what it cannot stand beside", "[spec]") {
  CHECK(parse("").measure.schedule == Schedule::blocked);
  CHECK(parse("measure: {schedule: interleaved}\n").measure.schedule == Schedule::interleaved);
  CHECK(refused("measure: {schedule: interleave}\n",
                "'schedule' must be one of blocked, interleaved, not 'interleave' (did you mean 'interleaved'?)"));
  CHECK(refused("measure: {cadence: back_to_back, schedule: interleaved}\n",
                "t.yaml:5:34: error: 'schedule: interleaved' cannot stand beside 'cadence: back_to_back'"));
  CHECK(mentions(plan_table(plan(parse("measure: {schedule: interleaved}\n"), {}), 100),
                 "one observation of each arm in turn"));
}

TEST_CASE("the rule for stopping, and what is wrong with one", "[spec]") {
  const auto spec = parse("measure: {stop: {half_width: 0.02 ms, max_pairs: 6}}\n");
  REQUIRE(spec.measure.stop);
  CHECK(spec.measure.stop->half_width_s == Catch::Approx(2e-5));
  CHECK(spec.measure.most_pairs() == 6);
  CHECK(block_kinds(spec).size() == 12);
  CHECK(parse("measure: {stop: {half_width: 20 us}}\n").measure.stop->max_pairs == 16);
  CHECK(refused("measure: {stop: {half_width: 0.02}}\n", "write 0.02 s for seconds"));
  CHECK(refused("measure: {stop: {max_pairs: 6}}\n", "key 'half_width' is missing in 'stop'"));
  CHECK(refused("measure: {stop: {half_width: 1 ms, max_pairs: 1}}\n", "from 2 to 1000, not '1'"));
  CHECK(refused("measure: {stop: {half_width: 1 ms, pairs: 4}}\n",
                "unknown key 'pairs' in 'stop'; known: half_width, max_pairs"));
  CHECK(refused("measure: {stop: 1 ms}\n", "'stop' must be a map of keys"));
  CHECK(refused("measure: {pairs: 4, stop: {half_width: 1 ms}}\n",
                "t.yaml:5:11: error: 'pairs' cannot stand beside 'stop'"));
  CHECK(refused("operations: [qkv_fwd, out_fwd, out_dgrad]\nmeasure: {stop: {half_width: 1 ms}}\n",
                "t.yaml:6:11: error: 'stop' looks at Delta, which needs all operations: qkv_dgrad is not measured"));
  CHECK(mentions(plan_table(plan(spec, {}), 100), "as soon as Delta is known to +- 0.02 ms"));
}

TEST_CASE("each part of the protocol makes another cell of it, and is in the resolved spec", "[plan]") {
  std::set<std::string> identities;
  for (const auto* rest :
       {"", "arms: {control: true}\n", "operations: [qkv_fwd, out_fwd, out_dgrad, qkv_dgrad, sequence]\n",
        "measure: {burn_in: true}\n", "measure: {schedule: interleaved}\n", "measure: {pairs: 4}\n",
        "measure: {stop: {half_width: 1 ms, max_pairs: 4}}\n", "measure: {stop: {half_width: 2 ms, max_pairs: 4}}\n"})
    CHECK(identities.insert(identity(rest)).second);

  const auto resolved =
      nlohmann::json::parse(resolved_json(parse("arms: {control: true}\nmeasure: {burn_in: true, schedule: "
                                                "interleaved, stop: {half_width: 0.5 ms, max_pairs: 4}}\n")));
  CHECK(resolved["arms"]["control"] == true);
  CHECK(resolved["measure"]["burn_in"] == true);
  CHECK(resolved["measure"]["schedule"] == "interleaved");
  CHECK(resolved["measure"]["stop"] == nlohmann::json({{"half_width_s", 0.0005}, {"max_pairs", 4}}));
  CHECK(nlohmann::json::parse(resolved_json(parse("")))["measure"]["stop"].is_null());
}

TEST_CASE("the plan prints the order of the blocks", "[plan]") {
  CHECK(mentions(plan_table(plan(parse(""), {}), 100), "blocks       initial, reversed\n"));
  CHECK(mentions(plan_table(plan(parse("measure: {burn_in: true}\n"), {}), 100),
                 "burn-in      initial, reversed: not kept\n"));
  const auto spec = parse("measure: {pairs: 6}\nvalidate: {seed: 3}\n");
  std::string letters;
  for (const auto kind : block_kinds(spec)) letters += kind == 0 ? "i " : "r ";
  CHECK(mentions(plan_table(plan(spec, {}), 100), "blocks       " + letters + "(6 pairs; i initial, r reversed)\n"));
}

TEST_CASE("the first blocks of a record keep their values", "[plan]") {
  core::CellRecord cell;
  cell.operations = {"a", "b"}, cell.arms = {"x", "y", "z"}, cell.order = {1, 0, 0, 1}, cell.observations = 5,
  cell.ranks = 2;
  for (std::size_t o = 0; o < 2; ++o)
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 4; ++b) {
        cell.started.push_back(static_cast<double>(100 * o + 10 * a + b));
        for (std::size_t i = 0; i < 10; ++i)
          cell.latency.push_back(static_cast<double>(1000 * o + 100 * a + 10 * b + i));
      }
  const auto kept = first_blocks(cell, 2);
  CHECK(kept.order == std::vector<std::uint8_t>{1, 0});
  REQUIRE(kept.latency.size() == 2 * 3 * 2 * 5 * 2);
  CHECK(kept.latency[kept.index(1, 2, 1, 4, 1)] == 1000 + 200 + 10 + 9);
  CHECK(kept.latency[kept.index(0, 1, 0, 0, 0)] == 100);
  CHECK(kept.started == std::vector<double>{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121});
  CHECK(first_blocks(cell, 4).latency == cell.latency);
}
