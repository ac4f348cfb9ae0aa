// Without a launcher this process is an MPI world of one rank. The worlds of several ranks are in tests/conformance.
#include <mpi.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/comm/backend.hpp>
#include <megaup/comm/communicator.hpp>
#include <megaup/comm/mpi/detail/alltoall_exchange.hpp>
#include <megaup/comm/mpi/detail/notice.hpp>
#include <megaup/comm/mpi/detail/placement.hpp>

namespace megaup::comm::mpi {
namespace {

/// MPI of this test program, from the first use to the end of the process: it can start only once.
void start_mpi() {
  struct Started {
    Started() {
      int level = 0;
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
    }
    ~Started() { MPI_Finalize(); }
  };
  static const Started started;
}

TEST_CASE("an MPI that the program has started serves several launches and stays started") {
  start_mpi();
  for (int i = 0; i < 3; ++i) {
    int ranks = 0;
    select_backend("mpi").launch({.ranks = 0}, [&](Communicator& c) {
      auto memory = c.split(0)->peer_memory(1000, 2);
      memory->signal(0, 1, 4);
      if (memory->arrived(1, 4)) ranks = c.size();
    });
    CHECK(ranks == 1);
  }
  int finalized = 1;
  MPI_Finalized(&finalized);
  CHECK(finalized == 0);
}

TEST_CASE("blocks beyond MPI's int counts have the right size and layout") {
  start_mpi();
  const std::size_t bytes = GENERATE(0u, 1u, 7u, 8u, 9u, 64u, 71u);
  const Block block = make_block(bytes, 8);
  MPI_Count size = 0, lower = 0, extent = 0;
  MPI_Type_size_x(block.type, &size);
  MPI_Type_get_extent_x(block.type, &lower, &extent);
  CHECK(static_cast<std::size_t>(size) * static_cast<std::size_t>(block.count) == bytes);
  CHECK(static_cast<std::size_t>(extent) * static_cast<std::size_t>(block.count) == bytes);

  std::vector<char> from(bytes, 'x'), to(bytes + 1, '.');
  MPI_Sendrecv(from.data(), block.count, block.type, 0, 0, to.data(), block.count, block.type, 0, 0, MPI_COMM_SELF,
               MPI_STATUS_IGNORE);
  CHECK(std::string(to.begin(), to.end()) == std::string(bytes, 'x') + ".");
  Block freed = block;
  if (freed.type != MPI_BYTE) MPI_Type_free(&freed.type);
}

TEST_CASE("ranks are counted on their own node, and ranks on several nodes have a reason to share no memory") {
  const std::vector<int> cyclic = {0, 1, 0, 1};
  const std::vector<int> on_node = {0, 0, 1, 1};
  for (int rank = 0; rank < 4; ++rank) {
    const Placement here = place(cyclic, rank);
    CHECK(here.rank_on_node == on_node[static_cast<std::size_t>(rank)]);
    CHECK(here.ranks_on_node == 2);
    REQUIRE(apart(here));
    CHECK_THAT(*apart(here), Catch::Matchers::ContainsSubstring("ranks are on 2 nodes"));
  }
  CHECK(place({5, 5, 0}, 2).ranks_on_node == 1);
  CHECK_FALSE(apart(place({3, 3, 3}, 1)));
}

TEST_CASE("the first claim of a notice is its cause, cut to the text's length") {
  auto notice = std::make_unique<Notice>();
  CHECK_FALSE(aborted(*notice));
  CHECK(claim(*notice, 3));
  CHECK(claim(*notice, 3));
  CHECK_FALSE(claim(*notice, 1));
  CHECK_FALSE(aborted(*notice));
  publish(*notice, core::Error(core::ErrorKind::validation, std::string(10000, 'y')), 3);
  publish(*notice, core::Error(core::ErrorKind::cell, "late"), 1);
  REQUIRE(aborted(*notice));
  const core::Error cause = first_cause(*notice);
  CHECK(cause.rank() == 3);
  CHECK(cause.kind() == core::ErrorKind::validation);
  CHECK(std::string(cause.what()) == std::string(Notice::kTextBytes - 1, 'y'));
}

}  // namespace
}  // namespace megaup::comm::mpi
