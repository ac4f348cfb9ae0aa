#include <array>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/experiments/plan.hpp>

using namespace megaup;
using namespace megaup::experiments;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::array<std::string_view, 4> kOperations{"qkv_fwd", "out_fwd", "out_dgrad", "qkv_dgrad"};
constexpr std::array<std::string_view, 2> kArms{"native_packed", "fused"};
constexpr std::array<std::string_view, 1> kKernels{"c256x192"}, kOrders{"N2"};

std::string tables(const std::string& tokens, const std::string& rest = "",
                   ops::Architecture architecture = ops::Architecture::sm_90a) {
  const KnownNames known{.operations = kOperations, .cuda_arms = kArms, .pull = {kKernels, kOrders}};
  const auto spec = parse_spec(
      "spec_version: 1\nname: t\nworkload: {batch: 1}\nmatrix: {model: llama-3.1-8b, cp: [2, 4], "
      "tokens_per_rank: " +
          tokens + "}\nbackend: {device: cuda" + rest + "}\n",
      "t.yaml", known);
  return kernel_tables(plan(spec, {}), 132, architecture);
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("the plan prints what the planners of fused kernels chose, equal tables once", "[plan]") {
  const std::string out = tables("2048");
  INFO(out);
  CHECK(count(out, "CHOSEN") == 4);  // the number of ranks changes no GEMM
  CHECK_THAT(out, ContainsSubstring("\nqkv_fwd of llama-3.1-8b.cp2.m2048"));
  CHECK_THAT(out, ContainsSubstring(
                      " and 1 more\npush 2048 x 6144 x 4096 TN on 132 SMs, sustained, peers over a link: auto\n"));
  CHECK_THAT(out, ContainsSubstring("\npull 2048 x 4096 x 6144 NN on 132 SMs, sustained, peers over a link: auto\n"));
}

TEST_CASE("the plan knows where the peers are", "[plan]") {
  CHECK_THAT(tables("2048", ", share_device: true"), ContainsSubstring("sustained, peers on the same device: auto\n"));
  CHECK_THAT(tables("2048", ", solo: true"), ContainsSubstring("sustained, peers on the same device: auto\n"));
}

TEST_CASE("the plan of another architecture has its kernels, and says that they were never run", "[plan]") {
  const std::string out = tables("2048", "", ops::Architecture::sm_100a);
  INFO(out);
  CHECK(count(out, "CHOSEN") == 4);
  CHECK(count(out, " on 132 SMs of sm_100a, ") == 4);
  CHECK(count(out, "  sm_100a: compiled, never run on a device; rates not measured\n") == 4);
  CHECK(count(out, "c128x256") == 0);
}

TEST_CASE("the plan says which fused kernel cannot run, or is not the one asked for", "[plan]") {
  CHECK_THAT(tables("2048", ", pull: c256x192/N2"), ContainsSubstring("peers over a link: c256x192/N2\n"));
  const std::string small = tables("64");
  INFO(small);
  CHECK(count(small, "no fused kernel: ") == 2);  // a tile has rows of one run
  CHECK(count(small, "in runs of 64") == 2);
}
