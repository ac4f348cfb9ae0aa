#include <megaup/analysis/false_discovery.hpp>

#include <algorithm>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using megaup::analysis::discoveries;

TEST_CASE("the example of Benjamini and Hochberg (1995): the four smallest of fifteen") {
  const std::vector<double> p{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                              0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0};
  const auto found = discoveries(p, 0.05);
  CHECK(std::count(found.begin(), found.end(), true) == 4);
  CHECK(found[3]);
  CHECK_FALSE(found[4]);
}

TEST_CASE("a p-value above its own line is called when a later one is below") {
  CHECK(discoveries(std::vector<double>{0.04, 0.03, 0.9}, 0.06) ==
        std::vector<bool>{true, true, false});  // 0.03 > 0.02, 0.04 <= 0.04
}

TEST_CASE("no tests, no discoveries; the order of the input is kept") {
  CHECK(discoveries(std::vector<double>{}, 0.05).empty());
  CHECK(discoveries(std::vector<double>{0.9, 0.001}, 0.05) == std::vector<bool>{false, true});
  CHECK(discoveries(std::vector<double>{0.9, 0.8}, 0.05) == std::vector<bool>{false, false});
}
