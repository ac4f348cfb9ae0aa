#include <megaup/comm/backend.hpp>

#include <algorithm>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/comm/communicator.hpp>

namespace megaup::comm {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("self and threads are always there, and every backend is either there or absent with a reason") {
  CHECK(select_backend("self").name == "self");
  CHECK(select_backend("threads").name == "threads");
  const auto has = [](std::string_view name) {
    return std::any_of(backends().begin(), backends().end(), [&](const Backend* b) { return b->name == name; });
  };
  for (const Backend* backend : backends()) CHECK_FALSE(backend->doc.empty());
  for (const AbsentBackend& absent : absent_backends()) {
    CHECK_FALSE(has(absent.name));
    CHECK_FALSE(absent.reason.empty());
  }
  CHECK((has("mpi") || !absent_backends().empty()));
}

TEST_CASE("what moves memory of devices is refused by its name on hosts") {
  select_backend("self").launch({}, [](Communicator& group) {
    CHECK_FALSE(group.no_transport(Transport::automatic).has_value());
    for (const Transport transport :
         {Transport::nccl, Transport::nccl_window, Transport::nccl_zero_cta, Transport::copy_engine})
      CHECK(group.no_transport(transport) ==
            "exchange " + std::string(name(transport)) + " moves memory of devices: this communicator (self) has none");
  });
}

TEST_CASE("without a launcher, auto means threads") { CHECK(select_backend("auto").name == "threads"); }

TEST_CASE("an unknown backend is refused, naming what exists") {
  CHECK_THROWS_MATCHES(
      select_backend("carrier-pigeon"), core::Error,
      MessageMatches(ContainsSubstring("carrier-pigeon") && ContainsSubstring("threads") && ContainsSubstring("auto")));
}

}  // namespace
}  // namespace megaup::comm
