#include <algorithm>
#include <array>
#include <set>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <megaup/core/error.hpp>
#include <megaup/core/hash.hpp>
#include <megaup/experiments/plan.hpp>

using namespace megaup;
using namespace megaup::experiments;

namespace {

constexpr std::array<std::string_view, 4> kOperations{"qkv_fwd", "out_fwd", "out_dgrad", "qkv_dgrad"};
constexpr std::array<std::string_view, 2> kArms{"native_packed", "fused"};
constexpr std::array<std::string_view, 3> kBounds{"gemm_only", "exchange_only", "reorder_only"};

Spec parse(std::string_view rest) {
  return parse_spec("spec_version: 1\nname: t\n" + std::string(rest), "t.yaml", {kOperations, kArms, kBounds});
}
Plan plan_of(std::string_view rest, PlanOptions options = {}) { return plan(parse(rest), options); }

/// The only cell of S, B, Hq, Hk, D, P; further workload keys behind.
Cell cell(std::int64_t S, std::int64_t B, std::int64_t Hq, std::int64_t Hk, std::int64_t D, std::int64_t P,
          std::string more = "") {
  const auto n = [](std::int64_t value) { return std::to_string(value); };
  const auto p =
      plan_of("workload: {batch: " + n(B) + more + "}\nmatrix: {hidden: " + n(Hq * D) + ", query_heads: " + n(Hq) +
              ", kv_heads: " + n(Hk) + ", head_dim: " + n(D) + ", cp: " + n(P) + ", sequence_length: " + n(S) + "}\n");
  REQUIRE(p.cells.size() == 1);
  return p.cells.front();
}
bool names(const Cell& c, std::initializer_list<std::string_view> parts) {
  INFO(c.refused);
  return std::ranges::all_of(parts, [&](auto part) { return c.refused.find(part) != std::string::npos; });
}
std::string error_of(std::string_view rest, PlanOptions options = {}) {
  try {
    plan_of(rest, options);
  } catch (const core::Error& error) {
    CHECK(core::exit_status(error.kind()) == 2);
    return error.what();
  }
  FAIL("accepted");
  return {};
}

constexpr std::string_view kTwo =
    "workload: {batch: 8}\nmatrix: {model: qwen3-8b, cp: [2, 4], tokens_per_rank: [64, 128]}\n";

}  // namespace

TEST_CASE("heads that cannot be divided are refused with their numbers", "[plan]") {
  CHECK(names(cell(1024, 1, 28, 4, 128, 8), {"28", "8"}));
  CHECK(cell(1024, 1, 28, 4, 128, 4).refused.empty());
  CHECK(cell(1024, 1, 28, 4, 128, 4).problem.local_query_heads() == 7);
}

TEST_CASE("sequences that cannot be divided are refused with their numbers", "[plan]") {
  CHECK(names(cell(9, 1, 4, 4, 8, 2), {"9", "2"}));
  CHECK(names(cell(2999, 1, 8, 8, 64, 4, ", sequence_order: dual_chunk"), {"2999", "8", "dual_chunk"}));
  CHECK(cell(16, 1, 8, 8, 64, 4, ", sequence_order: dual_chunk").refused.empty());
  const auto odd = plan_of("workload: {batch: 8}\nmatrix: {model: qwen3-8b, cp: 2, tokens_per_rank: [100, 96]}\n");
  CHECK(names(odd.cells[0], {"100", "8"}));
  CHECK(odd.cells[0].problem.s == 0);  // not rounded
  CHECK(odd.cells[1].refused.empty());
  CHECK(odd.n_runnable == 1);
  CHECK(odd.n_refused == 1);
}

TEST_CASE("fewer KV heads than ranks need kv_replication", "[plan]") {
  CHECK(names(cell(16, 1, 8, 2, 64, 4), {"2", "4", "kv_replication"}));
  CHECK(cell(16, 1, 8, 2, 64, 4, ", kv_replication: true").refused.empty());
  CHECK_FALSE(cell(16, 1, 8, 3, 64, 4, ", kv_replication: true").refused.empty());
}

TEST_CASE("head sizes off the favourites run", "[plan]") {
  for (const std::int64_t D : {64, 96, 192, 256}) CHECK(cell(64, 1, 4, 2, D, 2).refused.empty());
}

TEST_CASE("sizes beyond 64-bit offsets are refused, not overflowed", "[plan]") {
  const auto p =
      plan_of("workload: {batch: 1000000000000}\nmatrix: {model: qwen3-8b, cp: 2, sequence_length: 1000000000000}\n");
  CHECK(names(p.cells.front(), {"64-bit"}));
  CHECK(p.cells.front().bytes_per_rank == 0);
  // The largest sizes that are let through: their bytes still fit.
  const auto large = plan_of(
      "workload: {batch: 1}\nmatrix: {hidden: 100000000, query_heads: 1024, kv_heads: 1024, head_dim: 50000, cp: 1024, "
      "tokens_per_rank: [1024, 100000, 10000000]}\n");
  CHECK(large.cells[0].refused.empty());
  CHECK(large.cells[0].bytes_per_rank > 0);
  CHECK(names(large.cells[2], {"64-bit"}));
}

TEST_CASE("cells are counted before they are made", "[plan]") {
  const std::string ten = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]";
  const std::string spec = "workload: {head_dim: 64}\nmatrix:\n  hidden: " + ten + "\n  query_heads: " + ten +
                           "\n  kv_heads: " + ten + "\n  cp: " + ten + "\n  tokens_per_rank: " + ten +
                           "\n  batch: " + ten + "\n";
  const std::string text = error_of(spec);
  CHECK(text.find("1000000 cells, limit 100000") != std::string::npos);
  CHECK(error_of(kTwo, {.cell_limit = 3}).find("4 cells, limit 3") != std::string::npos);
  CHECK(plan_of(kTwo, {.cell_limit = 4}).cells.size() == 4);
}

TEST_CASE("three ranks and eight heads: one invalid cell of six", "[plan]") {
  const auto p = plan_of(
      "workload: {batch: 1, tokens_per_rank: 64}\nmatrix: {cp: [2, 3, 4], model: [a, b]}\n"
      "models:\n  a: {hidden: 512, query_heads: 8, kv_heads: 8, head_dim: 64}\n"
      "  b: {hidden: 768, query_heads: 12, kv_heads: 12, head_dim: 64}\n");
  CHECK(p.cells.size() == 6);
  CHECK(p.n_refused == 1);
  CHECK(names(p.cells[2], {"8", "3"}));
  const std::string table = plan_table(p, 100);
  CHECK(table.find("6 cells, 5 to run, 1 refused") != std::string::npos);
  CHECK(table.find("query heads 8 cannot be divided over cp 3") != std::string::npos);
}

TEST_CASE("the last axis varies fastest", "[plan]") {
  const auto p = plan_of(kTwo);
  std::vector<std::pair<std::int64_t, std::int64_t>> order;
  for (const auto& c : p.cells) order.emplace_back(c.problem.P, c.tokens_per_rank);
  CHECK(order == std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 64}, {2, 128}, {4, 64}, {4, 128}});
}

TEST_CASE("include adds, exclude removes, and each rule is counted", "[plan]") {
  const auto p = plan_of(
      std::string(kTwo) +
      "include:\n  - {model: [qwen3-8b, qwen3-32b], cp: 4, tokens_per_rank: [128, 256]}\n  - {model: flux.1, cp: 2, "
      "batch: 1, sequence_length: 512}\n"
      "exclude:\n  - {cp: 2, tokens_per_rank: 64}\n  - {hidden: 5120, tokens_per_rank: [256, 512]}\n  - {cp: 16}\n");
  std::vector<std::array<std::int64_t, 3>> counts;
  for (const auto& rule : p.rules) counts.push_back({rule.line, rule.cells, rule.duplicates});
  CHECK(counts ==
        std::vector<std::array<std::int64_t, 3>>{{4, 4, 0}, {6, 4, 1}, {7, 1, 0}, {9, 1, 0}, {10, 1, 0}, {11, 0, 0}});
  CHECK(p.cells.size() == 4 + 4 - 1 + 1 - 2);
  CHECK(p.cells.back().problem == core::Problem{.P = 2, .B = 1, .s = 256, .H = 3072, .Hq = 24, .Hk = 24, .D = 128});
  CHECK(p.rules[0].rule == "matrix");
  CHECK(p.rules[5].rule == "exclude 3");
  CHECK(plan_table(p, 100).find("it matches nothing") != std::string::npos);
  CHECK(error_of(std::string(kTwo) + "exclude:\n  - {batch: 8}\n").find("removes all 4 cells") != std::string::npos);
}

TEST_CASE("layout choices may be axes", "[plan]") {
  const auto p = plan_of(
      "matrix: {model: qwen3-8b, cp: 2, tokens_per_rank: 64, batch: [1, 8], format: [sbhd, bshd, thd], sequence_order: "
      "[contiguous, "
      "dual_chunk], qkv_weight: [grouped, concatenated], kv_replication: [false, true]}\n");
  CHECK(p.cells.size() == 48);
  std::set<std::string> ids;
  for (const auto& c : p.cells) ids.insert(c.id);
  CHECK(ids.size() == 48);
  CHECK(p.cells.back().problem.format == core::ActivationFormat::thd);
  CHECK(p.cells.back().problem.order == core::SequenceOrder::dual_chunk);
  CHECK(p.cells.back().problem.qkv_weight == core::QkvWeight::concatenated);
  CHECK(p.cells.back().problem.kv_replication);
}

TEST_CASE("cell ids are safe names that depend on the cell alone", "[plan]") {
  const auto a = plan_of(kTwo);
  const auto b = plan_of(
      "workload: {batch: 8, format: sbhd}\nmeasure: {observations: 5}\n"
      "matrix: {tokens_per_rank: 128, cp: [4], model: [qwen3-8b]}\n");
  CHECK(a.cells[3].id == b.cells[0].id);
  CHECK(a.cells[3].identity != b.cells[0].identity);  // other observations: its numbers are not the same
  const auto named = plan_of(
      "workload: {batch: 8}\nmatrix: {model: [\"\xc3\xbc b\", u], cp: 2, tokens_per_rank: 64}\nmodels:\n"
      "  \"\xc3\xbc b\": &m {hidden: 8, query_heads: 2, kv_heads: 2, head_dim: 4}\n  u: *m\n");
  CHECK(named.cells[0].model == "\xc3\xbc b");
  CHECK(named.cells[0].id != named.cells[1].id);
  for (const auto& c : named.cells)
    CHECK(c.id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
          std::string::npos);
  const auto long_name =
      plan_of("workload: {batch: 8}\nmodels:\n  " + std::string(200, 'm') +
              ": {hidden: 8, query_heads: 2, kv_heads: 2, head_dim: 4}\nmatrix: {model: " + std::string(200, 'm') +
              ", cp: 2, tokens_per_rank: 64}\n");
  CHECK(long_name.cells[0].id.size() < 100);
}

TEST_CASE("the plan's hash tells different plans apart", "[plan]") {
  const auto hash = [](std::string_view sizes, std::string_view measure, std::string_view version) {
    return plan_of("workload: {batch: 8}\nmodels: {m: {hidden: 512, query_heads: 8, kv_heads: 2, " +
                       std::string(sizes) + "}}\nmatrix: {model: m, cp: 2, tokens_per_rank: 64}\n" +
                       std::string(measure),
                   {.version = version})
        .hash;
  };
  const std::string base = hash("head_dim: 128", "", "1");
  CHECK(base.size() == 64);
  CHECK(hash("head_dim:   128", "# comment\n", "1") == base);
  CHECK(hash("head_dim: 128", "measure: {observations: 40}\n", "1") == base);  // the default, spelled out
  CHECK(hash("head_dim: 64", "", "1") != base);
  CHECK(hash("head_dim: 128", "measure: {observations: 41}\n", "1") != base);
  CHECK(hash("head_dim: 128", "", "2") != base);
  const auto p = plan_of(kTwo);
  CHECK(p.yaml_sha256 == core::sha256(p.spec.yaml));
  CHECK(p.resolved_sha256 == core::sha256(p.resolved));
  CHECK(p.hash != p.resolved_sha256);
}

TEST_CASE("the launcher's processes must be a multiple of cp", "[plan]") {
  const std::string three = "workload: {batch: 8}\nmatrix: {model: flux.1, cp: [2, 3, 8], tokens_per_rank: 64}\n";
  CHECK(plan_of(three).n_refused == 0);
  const auto p = plan_of(three, {.world = 4});
  CHECK(p.cells[0].refused.empty());
  CHECK(names(p.cells[1], {"cp 3", "4 processes"}));
  CHECK(names(p.cells[2], {"cp 8", "4 processes"}));
  const auto self = plan_of(
      "workload: {batch: 8}\nmatrix: {model: flux.1, cp: [1, 2], tokens_per_rank: 64}\nbackend: {communicator: "
      "self}\n");
  CHECK(self.cells[0].refused.empty());
  CHECK(names(self.cells[1], {"self", "2"}));
}

TEST_CASE("blocks come in pairs of both orders", "[plan]") {
  CHECK(block_kinds(parse(kTwo)) == std::vector<std::uint8_t>{0, 1});
  const auto four = block_kinds(parse(std::string(kTwo) + "measure: {pairs: 4}\nvalidate: {seed: 3}\n"));
  REQUIRE(four.size() == 8);
  for (std::size_t i = 0; i < 8; i += 4) {  // a b b a
    CHECK(four[i] != four[i + 1]);
    CHECK(four[i + 1] == four[i + 2]);
    CHECK(four[i] == four[i + 3]);
  }
  CHECK(four == block_kinds(parse(std::string(kTwo) + "measure: {pairs: 4}\nvalidate: {seed: 3}\n")));
  std::set<int> first;  // both orders come up
  for (int seed = 0; seed < 16; ++seed)
    first.insert(
        block_kinds(parse(std::string(kTwo) + "measure: {pairs: 2}\nvalidate: {seed: " + std::to_string(seed) + "}\n"))
            .front());
  CHECK(first == std::set<int>{0, 1});
}

TEST_CASE("FLOP of a cell follow the table of operations", "[plan]") {
  const auto p = plan_of(
      "workload: {batch: 1}\nmatrix: {hidden: 32, query_heads: 8, kv_heads: 2, head_dim: 4, cp: 2, tokens_per_rank: "
      "6}\n"
      "measure: {warmup: 3, observations: 4, pairs: 2}\narms: {baseline: [native_packed], bounds: false}\n");
  const double qkv = 2.0 * 6 * (8 + 2 * 2) * 4 * 32, out = 2.0 * 6 * 8 * 4 * 32;
  CHECK(p.cells[0].flop == Catch::Approx((2 * qkv + 2 * out) * 2 /* ranks */ * 2 /* arms */ * 4 /* blocks */ * 7));
  CHECK(p.cells[0].bytes_per_rank > 2 * (6 * 32 + 48 * 32 + 6 * 48));
}

TEST_CASE("the plan as JSON", "[plan]") {
  const auto p = plan_of("workload: {batch: 8}\nmatrix: {model: [flux.1, qwen3-8b], cp: 16, tokens_per_rank: 64}\n");
  const auto json = nlohmann::json::parse(plan_json(p, 100));
  CHECK(json["format"] == "megaup-plan");
  CHECK(json["hash"] == p.hash);
  CHECK(json["cells_refused"] == 2);
  CHECK(json["cells"][0]["refused"] == p.cells[0].refused);
  CHECK(json["cells"][0]["bytes_per_rank"].is_null());
  CHECK(json["blocks"] == nlohmann::json({"initial", "reversed"}));
  CHECK(json["resolved"] == nlohmann::json::parse(p.resolved));
  CHECK(json["resolved"]["measure"]["cell_timeout_s"] == 120.0);
  CHECK(json["resolved"]["models"]["flux.1"]["hidden"] == 3072);
}
