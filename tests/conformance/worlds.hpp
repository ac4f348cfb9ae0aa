#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include <megaup/comm/communicator.hpp>

/// What the test bodies need from the program that runs them. Each program defines worlds(), exchange_makers() and
/// on_ranks() once.
namespace megaup::conformance {

struct World {
  std::string backend;
  int ranks = 1;
};

/// Every world in which this program can run a body.
std::vector<World> worlds();

/// The ways to have an exchange here: Communicator::exchange, and those of its parts that this machine would not
/// choose.
struct ExchangeMaker {
  std::string name;
  std::function<std::unique_ptr<comm::Exchange>(comm::Communicator&, const comm::ExchangeShape&)> make;
};
std::vector<ExchangeMaker> exchange_makers();

using Body = std::function<void(comm::Communicator&)>;

/// Runs the body on every rank of the world. An error of a rank ends all and is thrown here.
void on_ranks(const World& world, const Body& body);

/// For use on ranks, where the test framework's assertions are not safe.
void expect(bool holds, std::string_view what, std::source_location where = std::source_location::current());

/// What `from` gives to `to` in one round: 16-bit codes of every index that matters, so that no misplaced, stale or
/// swapped byte looks right.
void fill(std::byte* data, std::size_t bytes, std::uint64_t round, int from, int to);
/// Number of bytes that are not as fill() writes them.
std::size_t wrong_bytes(const std::byte* data, std::size_t bytes, std::uint64_t round, int from, int to);

/// Makes this rank late.
void sleep_ms(int milliseconds);

}  // namespace megaup::conformance
