#include <fmt/format.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <megaup/tests/conformance/worlds.hpp>
#include <megaup/tests/operations/cases.hpp>

namespace megaup::operation_tests {
namespace {

using conformance::expect;
using conformance::on_ranks;
using conformance::World;
using conformance::worlds;

TEST_CASE("every operation, arm and layout agrees with the oracle") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](comm::Communicator& group) {
    for (const core::Problem& base : small_problems(group.size()))
      for (const core::Problem& problem : layouts_of(base))
        for (const ArmChoice& choice : all_arms()) {
          const std::string why = gate_failure(group, problem, choice);
          expect(why.empty(), why);
        }
  });
}

}  // namespace
}  // namespace megaup::operation_tests
