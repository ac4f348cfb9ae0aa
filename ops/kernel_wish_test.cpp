#include <megaup/ops/kernel_wish.hpp>

#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace megaup::ops;

namespace {

const std::vector<PricedKernel> kCandidates{{"a", "N2", 3}, {"a", "N1", 1}, {"b", "N2", 2}, {"b", "N1", 2}};

std::vector<std::string> reasons(const KernelWish& wish) {
  std::vector<std::string> texts;
  for (const auto& reason : rejections(kCandidates, wish)) texts.push_back(reason.value_or("chosen"));
  return texts;
}

}  // namespace

TEST_CASE("the fastest of the kernels that fit a wish is chosen, the first of equals") {
  using Texts = std::vector<std::string>;
  CHECK(reasons({}) == Texts{"2.0 us slower", "chosen", "1.0 us slower", "1.0 us slower"});
  const std::string b = "the spec asks for b", n2 = "the spec asks for auto/N2";
  CHECK(reasons({"b", ""}) == Texts{b, b, "chosen", "as fast, but a later row of the table"});
  CHECK(reasons({"", "N2"}) == Texts{"1.0 us slower", n2, "chosen", n2});
  CHECK(reasons({"a", "N2"}) ==
        Texts{"chosen", "the spec asks for a/N2", "the spec asks for a/N2", "the spec asks for a/N2"});
}

TEST_CASE("kernels without a rate are compared by waves") {
  const std::vector<PricedKernel> candidates{{"a", "N2", 8, false}, {"a", "N1", 7.5, false}, {"b", "N2", 7.5, false}};
  const auto found = rejections(candidates, {});
  CHECK(found[0] == "0.50 waves more");
  CHECK_FALSE(found[1]);
  CHECK(found[2] == "as many waves, but a later row of the table");
  CHECK(predicted(true, 12.34) == "12.3");
  CHECK(predicted(false, 0) == "?");
}

TEST_CASE("a wish that nothing fits is refused with what there is") {
  CHECK_FALSE(unfulfilled(kCandidates, {}));
  CHECK_FALSE(unfulfilled(kCandidates, {"b", "N1"}));
  CHECK(unfulfilled(kCandidates, {"c", "N1"}) == "the spec asks for c/N1: no kernel c runs this shape; there are a, b");
  CHECK(unfulfilled(kCandidates, {"b", "M1"}) ==
        "the spec asks for b/M1: this shape's grid of tiles has no order M1; there are N2, N1");
  CHECK(reasons({"b", "M1"}) == std::vector<std::string>(4, "the spec asks for b/M1"));
}

TEST_CASE("a wish is written as in a spec") {
  CHECK(text(KernelWish{}) == "auto");
  CHECK(text(KernelWish{"pp128x192", ""}) == "pp128x192");
  CHECK(text(KernelWish{"pp128x192", "N8"}) == "pp128x192/N8");
  CHECK(text(KernelWish{"", "N8"}) == "auto/N8");
}
