#include <megaup/core/version.hpp>

#include <iostream>

int main() {
  std::cout << "megaup " << megaup::core::version() << '\n';
  return megaup::core::version() == EXPECTED_VERSION ? 0 : 1;
}
