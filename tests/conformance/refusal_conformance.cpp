#include <fmt/format.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <megaup/tests/conformance/worlds.hpp>

namespace megaup::conformance {
namespace {

using comm::Communicator;

/// Text of the Error{cell} that `call` throws; a failure if it throws none.
std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const core::Error& error) {
    expect(error.kind() == core::ErrorKind::cell, "kind of the error");
    return error.what();
  }
  expect(false, "an error was expected");
  return "";
}

void expect_text(const std::string& text, std::string_view part) {
  expect(text.find(part) != std::string::npos, fmt::format("\"{}\" lacks \"{}\"", text, part));
}

TEST_CASE("sizes that differ between ranks are refused on all ranks, naming both") {
  const World world = GENERATE(from_range(worlds()));
  if (world.ranks == 1) return;  // one rank cannot differ
  on_ranks(world, [&](Communicator& c) {
    const bool last = c.rank() == c.size() - 1;
    const std::string exchange = refusal([&] { c.exchange({.bytes_per_peer = last ? 64u : 128u, .slots = 1}); });
    expect_text(exchange, "64");
    expect_text(exchange, "128");
    expect_text(refusal([&] { c.exchange({.bytes_per_peer = 64, .slots = last ? 2 : 1}); }), "slots = 2");
    expect_text(refusal([&] { c.peer_memory(last ? 100 : 200, 1); }), "bytes = 100");
    expect_text(refusal([&] { c.peer_memory(100, last ? 3 : 1); }), "flags = 3");
    c.barrier();  // and the communicator still works
  });
}

TEST_CASE("an exchange refuses slots that do not exist, are in flight, or were not started") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](Communicator& c) {
    expect_text(refusal([&] { c.exchange({.bytes_per_peer = 2, .slots = 0}); }), "0 slots");
    expect_text(refusal([&] { c.exchange({.bytes_per_peer = SIZE_MAX / 4, .slots = 9}); }), "too many");
    auto exchange = c.exchange({.bytes_per_peer = 2, .slots = 2});
    expect_text(refusal([&] { exchange->send(2); }), "slot 2 of 2");
    expect_text(refusal([&] { exchange->recv(-1); }), "slot -1 of 2");
    expect_text(refusal([&] { exchange->finish(0); }), "slot 0 is finished but was not started");
    exchange->start(0);
    expect_text(refusal([&] { exchange->start(0); }), "slot 0 was started again");
    exchange->finish(0);
    exchange->start(0);
    exchange->finish(0);
  });
}

TEST_CASE("a negative colour is refused") {
  const World world = GENERATE(from_range(worlds()));
  on_ranks(world, [&](Communicator& c) { expect_text(refusal([&] { c.split(-1); }), "-1"); });
}

}  // namespace
}  // namespace megaup::conformance
