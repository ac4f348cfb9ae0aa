#include <megaup/analysis/filter.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/core/error.hpp>

using namespace megaup;
using namespace megaup::analysis;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

Row row(std::string model, std::int64_t cp, std::int64_t tokens) {
  Row result;
  result.model = std::move(model);
  result.cp = cp;
  result.tokens_per_rank = tokens;
  result.status = "measured";
  result.baseline = "native_packed";
  return result;
}

}  // namespace

TEST_CASE("no filter accepts everything") { CHECK(Filter().accepts(row("a", 2, 2048))); }

TEST_CASE("different keys must all hold, values of one key are alternatives") {
  const Filter filter({"model=a, cp=2,cp=4"});
  CHECK(filter.accepts(row("a", 2, 2048)));
  CHECK(filter.accepts(row("a", 4, 2048)));
  CHECK_FALSE(filter.accepts(row("a", 8, 2048)));
  CHECK_FALSE(filter.accepts(row("b", 2, 2048)));
  CHECK(Filter({"tokens_per_rank=2048", "status=measured", "baseline=native_packed"}).accepts(row("a", 2, 2048)));
  CHECK_FALSE(Filter({"cp=2", "status=failed"}).accepts(row("a", 2, 2048)));
  CHECK(Filter({"cp=02"}).accepts(row("a", 2, 2048)));
}

TEST_CASE("a value may hold an equals sign") { CHECK(Filter({"model=a=b"}).accepts(row("a=b", 2, 2048))); }

TEST_CASE("mistakes are named with what is known") {
  CHECK_THROWS_MATCHES(
      Filter({"modle=a"}), core::Error,
      MessageMatches(ContainsSubstring("unknown key 'modle'") && ContainsSubstring("tokens_per_rank")));
  CHECK_THROWS_MATCHES(Filter({"cp"}), core::Error, MessageMatches(ContainsSubstring("'cp' has no '='")));
  CHECK_THROWS_MATCHES(Filter({""}), core::Error, MessageMatches(ContainsSubstring("has no '='")));
  for (const char* text : {"cp=two", "cp=", "cp=2.0", "tokens_per_rank=99999999999999999999"})
    CHECK_THROWS_MATCHES(Filter({text}), core::Error, MessageMatches(ContainsSubstring("whole number")));
}
