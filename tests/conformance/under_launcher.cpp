// mpi: the launcher has made the world, so all bodies run inside one launch, each on a group of its own. Every rank
// runs the same cases in the same order; rank 0 alone reports, the others speak only when they fail.
#include <cstdio>

#include <fmt/format.h>
#include <catch2/catch_session.hpp>

#include <megaup/comm/backend.hpp>
#include <megaup/comm/mpi/alltoall_exchange.hpp>
#include <megaup/tests/conformance/worlds.hpp>

namespace megaup::conformance {
namespace {

comm::Communicator* launched = nullptr;  // set while main's launch lasts

}  // namespace

std::vector<World> worlds() { return {{"mpi", launched->size()}}; }

std::vector<ExchangeMaker> exchange_makers() {
  return {{"exchange", [](comm::Communicator& c, const comm::ExchangeShape& shape) { return c.exchange(shape); }},
          {"MPI_Ialltoall", comm::mpi::alltoall_exchange}};
}

void on_ranks(const World&, const Body& body) {
  const auto group = launched->split(0);
  try {
    body(*group);
  } catch (const std::exception& error) {
    group->abort(core::Error(core::ErrorKind::validation, error.what(), launched->rank()));
    throw;
  }
}

namespace {

int run_cases(int argc, char** argv) {
  Catch::Session session;
  if (const int bad = session.applyCommandLine(argc, argv); bad != 0) return bad;
  session.configData().runOrder = Catch::TestRunOrder::Declared;
  if (launched->rank() != 0) session.configData().defaultOutputFilename = "/dev/null";
  const int failed = session.run();
  if (failed != 0 && launched->rank() != 0) fmt::print(stderr, "rank {}: {} cases failed\n", launched->rank(), failed);
  return launched->any(failed != 0) ? 1 : 0;
}

}  // namespace
}  // namespace megaup::conformance

int main(int argc, char** argv) {
  int verdict = 1;
  megaup::comm::select_backend("mpi").launch({.ranks = 0}, [&](megaup::comm::Communicator& world) {
    megaup::conformance::launched = &world;
    verdict = megaup::conformance::run_cases(argc, argv);
    megaup::conformance::launched = nullptr;
  });
  return verdict;
}
