#include <cstdint>

#include <fmt/format.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <megaup/tests/conformance/worlds.hpp>

namespace megaup::conformance {
namespace {

using comm::Communicator;

TEST_CASE("peer memory is zero, begins on a page, and is the same on every rank") {
  const World world = GENERATE(from_range(worlds()));
  const std::size_t bytes = GENERATE(0u, 1u, 4097u, 3u << 20);
  on_ranks(world, [&](Communicator& c) {
    auto memory = c.peer_memory(bytes, 3);
    expect(memory->bytes() == bytes && memory->flags() == 3, "sizes");
    for (std::size_t flag = 0; flag < 3; ++flag) expect(!memory->arrived(flag, 1), "flags begin at zero");
    for (int r = 0; r < c.size(); ++r) {
      expect(reinterpret_cast<std::uintptr_t>(memory->base(r)) % 4096 == 0, "page boundary");
      for (std::size_t k = 0; k < bytes; ++k) expect(memory->base(r)[k] == std::byte{0}, "memory begins at zero");
    }
    c.barrier();
  });
}

/// Every rank writes a block into every peer's memory each epoch. Flag r says that rank r's block is there, flag P + r
/// that rank r has read what this rank gave it, so that it may be overwritten.
TEST_CASE("what was written before a signal is seen after the wait, in each of 50 epochs, also when a rank is late") {
  const World world = GENERATE(from_range(worlds()));
  const std::size_t bytes = GENERATE(2u, 64u, 5000u);
  INFO(world.backend << " P=" << world.ranks << " bytes=" << bytes);
  on_ranks(world, [&](Communicator& c) {
    const int P = c.size(), me = c.rank();
    auto memory = c.peer_memory(bytes * static_cast<std::size_t>(P), static_cast<std::size_t>(2 * P));
    const auto block = [&](int owner, int writer) {
      return memory->base(owner) + bytes * static_cast<std::size_t>(writer);
    };
    for (std::uint64_t epoch = 1; epoch <= 50; ++epoch) {
      if (me == 1 % P && (epoch == 7 || epoch == 8)) sleep_ms(50);
      for (int k = 0; k < P; ++k) {
        const int peer = (me + k) % P;
        memory->wait(static_cast<std::size_t>(P + peer), epoch - 1,
                     [&] { return fmt::format("rank {} to have read", peer); });
        fill(block(peer, me), bytes, epoch, me, peer);
        memory->signal(peer, static_cast<std::size_t>(me), epoch);
      }
      for (int k = 0; k < P; ++k) {
        const int peer = (me + k) % P;
        memory->wait(static_cast<std::size_t>(peer), epoch,
                     [&] { return fmt::format("rank {} to have written", peer); });
        expect(wrong_bytes(block(me, peer), bytes, epoch, peer, me) == 0,
               fmt::format("epoch {}: block of rank {}", epoch, peer));
        memory->signal(peer, static_cast<std::size_t>(P + me), epoch);
      }
    }
    c.barrier();
  });
}

TEST_CASE("an epoch also satisfies a wait for an earlier one") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](Communicator& c) {
    auto memory = c.peer_memory(8, 1);
    memory->signal((c.rank() + 1) % c.size(), 0, 5);
    memory->wait(0, 3, [] { return std::string("the neighbour"); });
    expect(memory->arrived(0, 5) && !memory->arrived(0, 6), "the flag holds the epoch");
    c.barrier();
  });
}

TEST_CASE("peer memory may be dropped in any order, and its communicator before it") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](Communicator& c) {
    for (int round = 0; round < 5; ++round) {
      auto group = c.split(0);
      auto first = group->peer_memory(10000, 1);
      auto second = group->peer_memory(20000, 2);
      fill(second->base((c.rank() + 1) % c.size()), 20000, static_cast<std::uint64_t>(round), c.rank(), 0);
      if (c.rank() % 2 == 0) first.reset();
      group.reset();
      const int left = (c.rank() + c.size() - 1) % c.size();
      second->signal((c.rank() + 1) % c.size(), 1, 1);
      second->wait(1, 1, [] { return std::string("the left neighbour"); });
      expect(wrong_bytes(second->base(c.rank()), 20000, static_cast<std::uint64_t>(round), left, 0) == 0,
             "data of the left neighbour");
    }
  });
}

}  // namespace
}  // namespace megaup::conformance
