#include <fmt/format.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <megaup/tests/conformance/worlds.hpp>

namespace megaup::conformance {
namespace {

using comm::Communicator;
using comm::Exchange;

void fill_send(const Communicator& c, Exchange& exchange, int slot, std::uint64_t round) {
  const std::size_t bytes = exchange.shape().bytes_per_peer;
  for (int p = 0; p < c.size(); ++p)
    fill(exchange.send(slot) + bytes * static_cast<std::size_t>(p), bytes, round, c.rank(), p);
}

void check_recv(const Communicator& c, const Exchange& exchange, int slot, std::uint64_t round) {
  const std::size_t bytes = exchange.shape().bytes_per_peer;
  for (int p = 0; p < c.size(); ++p) {
    const std::size_t wrong =
        wrong_bytes(exchange.recv(slot) + bytes * static_cast<std::size_t>(p), bytes, round, p, c.rank());
    expect(wrong == 0, fmt::format("rank {} round {} slot {}: {} of {} bytes from rank {} are wrong", c.rank(), round,
                                   slot, wrong, bytes, p));
  }
}

TEST_CASE("an exchange brings block r of rank p to block p of rank r, bit for bit") {
  const World world = GENERATE(from_range(worlds()));
  const ExchangeMaker maker = GENERATE(from_range(exchange_makers()));
  const std::size_t bytes = GENERATE(0u, 1u, 2u, 7u, 63u, 4096u, 4098u, 99999u, 1u << 20);
  INFO(world.backend << " " << maker.name << " P=" << world.ranks << " bytes=" << bytes);
  on_ranks(world, [&](Communicator& c) {
    auto exchange = maker.make(c, {.bytes_per_peer = bytes, .slots = 1});
    for (std::uint64_t round = 1; round <= 3; ++round) {
      fill_send(c, *exchange, 0, round);
      exchange->start(0);
      exchange->finish(0);
      check_recv(c, *exchange, 0, round);
    }
  });
}

TEST_CASE("every one of 50 exchanges brings its own data, also when a rank is late") {
  const World world = GENERATE(from_range(worlds()));
  const ExchangeMaker maker = GENERATE(from_range(exchange_makers()));
  on_ranks(world, [&](Communicator& c) {
    auto exchange = maker.make(c, {.bytes_per_peer = 1000, .slots = 1});
    for (std::uint64_t round = 1; round <= 50; ++round) {
      if (c.rank() == 1 % c.size() && (round == 7 || round == 8)) sleep_ms(50);
      if (c.rank() == c.size() - 1 && round % 20 == 0) sleep_ms(20);
      fill_send(c, *exchange, 0, round);
      exchange->start(0);
      if (c.rank() == 0 && round % 13 == 0) sleep_ms(20);  // late between start and finish
      exchange->finish(0);
      check_recv(c, *exchange, 0, round);
    }
  });
}

TEST_CASE("two exchanges in flight keep apart, whichever is finished first") {
  const World world = GENERATE(from_range(worlds()));
  const ExchangeMaker maker = GENERATE(from_range(exchange_makers()));
  on_ranks(world, [&](Communicator& c) {
    auto exchange = maker.make(c, {.bytes_per_peer = 514, .slots = 2});
    for (std::uint64_t round = 1; round <= 20; ++round) {
      if (c.rank() == 1 % c.size() && round % 8 == 0) sleep_ms(20);
      fill_send(c, *exchange, 0, 2 * round);
      exchange->start(0);
      fill_send(c, *exchange, 1, 2 * round + 1);
      exchange->start(1);
      const int first = static_cast<int>(round % 2);
      exchange->finish(first);
      check_recv(c, *exchange, first, 2 * round + static_cast<std::uint64_t>(first));
      exchange->finish(1 - first);
      check_recv(c, *exchange, 0, 2 * round);
      check_recv(c, *exchange, 1, 2 * round + 1);
    }
  });
}

TEST_CASE("two exchanges of one communicator, of different sizes, can overlap") {
  const World world = GENERATE(from_range(worlds()));
  const ExchangeMaker maker = GENERATE(from_range(exchange_makers()));
  on_ranks(world, [&](Communicator& c) {
    auto small = maker.make(c, {.bytes_per_peer = 2, .slots = 1});
    auto large = maker.make(c, {.bytes_per_peer = 70000, .slots = 3});
    for (std::uint64_t round = 1; round <= 10; ++round) {
      const int slot = static_cast<int>(round % 3);
      fill_send(c, *large, slot, round);
      large->start(slot);
      fill_send(c, *small, 0, 100 + round);
      small->start(0);
      small->finish(0);
      check_recv(c, *small, 0, 100 + round);
      large->finish(slot);
      check_recv(c, *large, slot, round);
    }
  });
}

TEST_CASE("a rank may drop its exchange while peers are still busy with it") {
  const World world = GENERATE(from_range(worlds()));
  const ExchangeMaker maker = GENERATE(from_range(exchange_makers()));
  on_ranks(world, [&](Communicator& c) {
    for (std::uint64_t round = 1; round <= 10; ++round) {
      auto exchange = maker.make(c, {.bytes_per_peer = 20000, .slots = 1});
      fill_send(c, *exchange, 0, round);
      exchange->start(0);
      if (c.rank() == static_cast<int>(round) % c.size()) sleep_ms(5);
      exchange->finish(0);
      if (c.rank() % 2 == 0) exchange.reset();
      if (exchange) check_recv(c, *exchange, 0, round);
    }
  });
}

}  // namespace
}  // namespace megaup::conformance
