#include <megaup/analysis/number.hpp>

#include <catch2/catch_test_macros.hpp>

using namespace megaup::analysis;

TEST_CASE("the baseline has four significant digits") {
  CHECK(decimals_of(125.0) == 1);
  CHECK(decimals_of(4.0) == 3);
  CHECK(decimals_of(0.1) == 4);
  CHECK(decimals_of(9999.0) == 0);
  CHECK(decimals_of(123456.0) == 0);
  CHECK(decimals_of(0.0) == 0);
  CHECK(decimals_of(1e-300) == 9);
}

TEST_CASE("a difference has a sign, three digits, and no more decimals than its row") {
  CHECK(difference_text(11.25, 1) == "+11.2");
  CHECK(difference_text(-0.2, 3) == "-0.200");
  CHECK(difference_text(0.342458, 3) == "+0.342");
  CHECK(difference_text(-0.003340613, 3) == "-0.003");
  CHECK(difference_text(1234.5, 0) == "+1234");
  CHECK(difference_text(0.0, 3) == "+0.000");
  CHECK(difference_text(0.0001, 3) == "+0.000");
}

TEST_CASE("a size too small to show is no zero") {
  CHECK(size_text(0.2, 3) == "0.200 ms");
  CHECK(size_text(-5.0, 2) == "5.00 ms");
  CHECK(size_text(0.0001, 3) == "< 0.001 ms");
  CHECK(size_text(-0.0001, 3) == "< 0.001 ms");
  CHECK(size_text(0.0, 3) == "0.000 ms");
}
