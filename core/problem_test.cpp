#include <megaup/core/problem.hpp>

#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace megaup::core;
using Catch::Matchers::ContainsSubstring;

namespace {

Problem sound() { return {.P = 2, .B = 1, .s = 8, .H = 512, .Hq = 8, .Hk = 2, .D = 64}; }

}  // namespace

TEST_CASE("sizes that follow from a problem") {
  const auto p = sound();
  CHECK(p.S() == 16);
  CHECK(p.M() == 8);
  CHECK(p.Q() == 4);
  CHECK(p.N() == 768);  // D is 64, not 768/8 = 96
  CHECK(p.local_query_heads() == 4);
  CHECK(p.local_kv_heads() == 1);
  CHECK(p.kv_copies() == 1);
  CHECK_FALSE(refusal(p));
}

TEST_CASE("28 heads over 8 ranks are refused with both numbers, over 4 they run") {
  auto p = sound();
  p.P = 8;
  p.Hq = 28;
  p.Hk = 4;
  const auto why = refusal(p);
  REQUIRE(why);
  CHECK_THAT(*why, ContainsSubstring("28") && ContainsSubstring("8"));
  p.P = 4;
  CHECK_FALSE(refusal(p));
  CHECK(p.local_query_heads() == 7);
}

TEST_CASE("2 KV heads over 4 ranks need kv_replication, and the refusal says so") {
  auto p = sound();
  p.P = 4;
  const auto why = refusal(p);
  REQUIRE(why);
  CHECK_THAT(*why, ContainsSubstring("2") && ContainsSubstring("4") && ContainsSubstring("kv_replication: true"));
  p.kv_replication = true;
  CHECK_FALSE(refusal(p));
  CHECK(p.kv_copies() == 2);
  CHECK(p.local_kv_heads() == 1);
}

TEST_CASE("3 KV heads over 4 ranks are refused even with kv_replication: neither divides the other") {
  auto p = sound();
  p.P = 4;
  p.Hq = 24;
  p.Hk = 3;
  p.kv_replication = true;
  const auto why = refusal(p);
  REQUIRE(why);
  CHECK_THAT(*why, ContainsSubstring("3") && ContainsSubstring("4") && ContainsSubstring("neither divides the other"));
}

TEST_CASE("query heads that are no multiple of the KV heads are refused") {
  auto p = sound();
  p.P = 1;
  p.Hk = 3;
  const auto why = refusal(p);
  REQUIRE(why);
  CHECK_THAT(*why, ContainsSubstring("8") && ContainsSubstring("3"));
}

TEST_CASE("dual_chunk with an odd number of local tokens names 2P") {
  // S = 2996 over 4 ranks: 749 tokens each. A length such as 2999 does not even give whole tokens, and is refused where the spec is read.
  auto p = sound();
  p.P = 4;
  p.Hk = 4;
  p.s = 749;
  CHECK_FALSE(refusal(p));
  p.order = SequenceOrder::dual_chunk;
  const auto why = refusal(p);
  REQUIRE(why);
  CHECK_THAT(*why, ContainsSubstring("2*P = 8") && ContainsSubstring("2996") && ContainsSubstring("749"));
}

TEST_CASE("every size must be positive, and the refusal names it") {
  const std::pair<const char*, std::int64_t Problem::*> sizes[] = {
      {"P", &Problem::P},   {"B", &Problem::B},   {"s", &Problem::s}, {"H", &Problem::H},
      {"Hq", &Problem::Hq}, {"Hk", &Problem::Hk}, {"D", &Problem::D}};
  for (const auto& [name, size] : sizes)
    for (const std::int64_t value : {0, -3}) {
      auto p = sound();
      p.*size = value;
      const auto why = refusal(p);
      REQUIRE(why);
      CHECK_THAT(*why, ContainsSubstring(std::string(name) + " (") && ContainsSubstring(std::to_string(value)));
    }
}

TEST_CASE("sizes whose products leave 64 bits are refused, and judged without overflow") {
  auto p = sound();
  p.s = std::int64_t{1} << 60;
  CHECK(refusal(p));
  p.s = std::int64_t{1} << 40;
  CHECK_FALSE(refusal(p));
  p = sound();
  p.B = p.s = std::int64_t{1} << 62;
  CHECK(refusal(p));
  p = sound();
  p.Hq = p.Hk = std::int64_t{1} << 61;
  CHECK(refusal(p));
}

TEST_CASE("names of the layout choices") {
  CHECK(name(ActivationFormat::sbhd) == "sbhd");
  CHECK(name(ActivationFormat::bshd) == "bshd");
  CHECK(name(ActivationFormat::thd) == "thd");
  CHECK(name(SequenceOrder::contiguous) == "contiguous");
  CHECK(name(SequenceOrder::dual_chunk) == "dual_chunk");
  CHECK(name(QkvWeight::grouped) == "grouped");
  CHECK(name(QkvWeight::concatenated) == "concatenated");
}
