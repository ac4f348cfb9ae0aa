#include <fmt/format.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <megaup/tests/conformance/worlds.hpp>

namespace megaup::conformance {
namespace {

using comm::Communicator;

TEST_CASE("every rank has its own number, and the world its size and backend") {
  const World world = GENERATE(from_range(worlds()));
  INFO(world.backend << " P=" << world.ranks);
  on_ranks(world, [&](Communicator& c) {
    expect(c.size() == world.ranks, "size");
    expect(c.backend() == world.backend, "backend");
    const std::vector<double> ranks = c.all_gather(static_cast<double>(c.rank()));
    for (int r = 0; r < c.size(); ++r) expect(ranks[static_cast<std::size_t>(r)] == r, "rank r is at place r");
  });
}

TEST_CASE("placement counts the ranks of each node") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](Communicator& c) {
    const comm::Placement here = c.placement();
    expect(here.nodes == 1 && here.ranks_on_node == c.size() && here.rank_on_node == c.rank(),
           "all ranks are on this node");
    expect(!c.no_peer_memory().has_value(), "one node has peer memory");
  });
}

TEST_CASE("no rank passes a barrier before all have come") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](Communicator& c) {
    auto memory = c.peer_memory(0, 1);
    for (std::uint64_t epoch = 1; epoch <= 20; ++epoch) {
      const int late = static_cast<int>(epoch) % c.size();
      if (c.rank() == late && epoch % 5 == 0) sleep_ms(20);
      if (c.rank() == late)
        for (int r = 0; r < c.size(); ++r) memory->signal(r, 0, epoch);
      c.barrier();
      expect(memory->arrived(0, epoch), "the late rank had signalled before it came");
      c.barrier();
    }
  });
}

TEST_CASE("any is true on all ranks when one says so, whichever it is") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](Communicator& c) {
    for (int round = 0; round < 3; ++round)
      for (int speaker = -1; speaker < c.size(); ++speaker) {
        if (c.rank() == (speaker + 1) % c.size() && round == 1) sleep_ms(5);
        expect(c.any(c.rank() == speaker) == (speaker >= 0), fmt::format("any with speaker {}", speaker));
      }
  });
}

TEST_CASE("gathers keep the order of ranks, every byte, and texts of any length") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](Communicator& c) {
    for (const std::size_t bytes : {0, 1, 3, 8, 1000}) {
      std::vector<std::byte> mine(bytes);
      fill(mine.data(), bytes, bytes, c.rank(), 0);
      const std::vector<std::byte> all = c.all_gather(mine);
      expect(all.size() == bytes * static_cast<std::size_t>(c.size()), "size of the gathered bytes");
      for (int r = 0; r < c.size(); ++r)
        expect(wrong_bytes(all.data() + bytes * static_cast<std::size_t>(r), bytes, bytes, r, 0) == 0,
               "gathered bytes");
    }
    const auto text_of = [](int rank) {
      return rank == 1 ? std::string() : std::string(static_cast<std::size_t>(3 * rank), 'x') + '\0' + "ü";
    };
    const std::vector<std::string> texts = c.all_gather(std::string_view(text_of(c.rank())));
    for (int r = 0; r < c.size(); ++r) expect(texts[static_cast<std::size_t>(r)] == text_of(r), "gathered text");
  });
}

/// Ranks of the world that have the same colour, ascending.
std::vector<double> members(int P, int colour, const std::function<int(int)>& colour_of) {
  std::vector<double> ranks;
  for (int r = 0; r < P; ++r)
    if (colour_of(r) == colour) ranks.push_back(r);
  return ranks;
}

void check_split(Communicator& c, const std::function<int(int)>& colour_of) {
  const int mine = colour_of(c.rank());
  const auto group = c.split(mine);
  const std::vector<double> expected = members(c.size(), mine, colour_of);
  expect(group->size() == static_cast<int>(expected.size()), "size of the group");
  expect(expected[static_cast<std::size_t>(group->rank())] == c.rank(), "rank in the group");
  expect(group->all_gather(static_cast<double>(c.rank())) == expected, "the group's ranks");
  expect(group->any(c.rank() == expected.front()), "any within the group");
  expect(group->placement().ranks_on_node == group->size(), "placement of the group");

  auto exchange = group->exchange({.bytes_per_peer = 6, .slots = 1});
  for (int p = 0; p < group->size(); ++p)
    fill(exchange->send(0) + 6 * p, 6, static_cast<std::uint64_t>(mine), group->rank(), p);
  exchange->start(0);
  exchange->finish(0);
  for (int p = 0; p < group->size(); ++p)
    expect(wrong_bytes(exchange->recv(0) + 6 * p, 6, static_cast<std::uint64_t>(mine), p, group->rank()) == 0,
           "exchange within the group");
}

TEST_CASE("groups split off: the whole world, halves, odd and even, one rank each, and the rest after one rank") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](Communicator& c) {
    const int P = c.size();
    check_split(c, [](int) { return 7; });
    check_split(c, [P](int r) { return 2 * r < P ? 1 : 0; });
    check_split(c, [](int r) { return r % 2; });
    check_split(c, [](int r) { return r; });
    check_split(c, [](int r) { return r == 0 ? 1000000 : 3; });
  });
}

TEST_CASE("a group can be split again, and groups work at their own pace") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](Communicator& c) {
    const auto half = c.split(2 * c.rank() < c.size() ? 0 : 1);
    const auto quarter = half->split(2 * half->rank() < half->size() ? 0 : 1);
    for (int round = 0; round < 10 * (c.rank() < c.size() / 2 ? 3 : 1); ++round) half->barrier();
    for (int round = 0; round < 5; ++round) expect(quarter->any(quarter->rank() == 0), "any in a quarter");
    c.barrier();
  });
}

TEST_CASE("groups may be made and dropped many times") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](Communicator& c) {
    for (int i = 0; i < 50; ++i) {
      const auto group = c.split(c.rank() % (1 + i % 3));
      auto memory = group->peer_memory(64, 1);
      if (i % 7 == 0) group->barrier();
    }
  });
}

}  // namespace
}  // namespace megaup::conformance
