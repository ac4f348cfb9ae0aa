// A program that reads results: the same estimator as `megaup analyze`, without the layers that measure.
#include <iostream>
#include <vector>

#include <megaup/core/estimator.hpp>
#include <megaup/core/version.hpp>

int main() {
  std::cout << "megaup " << megaup::core::version() << '\n';
  std::vector<double> one_to_four{4, 1, 3, 2};
  return megaup::core::version() == EXPECTED_VERSION && megaup::core::median(one_to_four) == 2.5 ? 0 : 1;
}
