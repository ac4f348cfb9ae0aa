// One launch that goes wrong in a chosen way: failing_launch BACKEND RANKS SCENARIO [LAUNCHES]. failing_launch_test.py
// judges how it ends.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include <fmt/format.h>

#include <megaup/comm/backend.hpp>
#include <megaup/comm/communicator.hpp>

namespace {

using megaup::comm::Communicator;
using megaup::core::Error;
using megaup::core::ErrorKind;

// Of the scenarios in which somebody never comes. The other waits must not fail, however busy the machine is.
constexpr double kPatience = 2, kTooLate = 5;

double patience(const std::string& scenario) { return scenario.find("never") == std::string::npos ? 60 : kPatience; }

void sleep_s(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

void run_exchanges(Communicator& c, int count) {
  auto memory = c.peer_memory(1 << 16, 4);
  auto exchange = c.exchange({.bytes_per_peer = 1 << 12, .slots = 2});
  for (int i = 0; i < count; ++i) {
    if (c.rank() == 1 && i == 3) throw Error(ErrorKind::validation, "exchange 3: element 17 is wrong");
    exchange->start(i % 2);
    exchange->finish(i % 2);
  }
}

const std::map<std::string, void (*)(Communicator&)> kScenarios{
    {"fine", [](Communicator& c) { c.barrier(); }},
    {"throws_before_exchange_3", [](Communicator& c) { run_exchanges(c, 1000000000); }},
    {"throws_with_an_exchange_in_flight",
     [](Communicator& c) {
       auto exchange = c.exchange({.bytes_per_peer = 1 << 20, .slots = 1});
       exchange->start(0);
       if (c.rank() == 1) throw Error(ErrorKind::environment, "the disk of rank 1 is full");
       exchange->finish(0);
       c.barrier();
     }},
    {"throws_while_others_compute",
     [](Communicator& c) {
       if (c.rank() == 1) throw std::runtime_error("a foreign exception");
       for (const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2500);
            std::chrono::steady_clock::now() < end;) {
       }
       c.barrier();
     }},
    {"all_throw",
     [](Communicator& c) {
       if (c.any(true)) throw Error(ErrorKind::usage, "cp: 3 does not divide 4 ranks");
     }},
    {"one_throws_at_the_end",
     [](Communicator& c) {
       c.barrier();
       if (c.rank() == 2) throw Error(ErrorKind::cell, "the last cell failed");
     }},
    {"abort_from_rank_2",
     [](Communicator& c) {
       if (c.rank() == 2) c.abort(Error(ErrorKind::stopped, "rank 2 gives up"));
       for (;;) c.barrier();
     }},
    {"rank_1_never_comes",
     [](Communicator& c) {
       if (c.rank() == 1) sleep_s(kTooLate);
       c.barrier();
     }},
    {"rank_1_never_exchanges",
     [](Communicator& c) {
       auto exchange = c.exchange({.bytes_per_peer = 8, .slots = 1});
       if (c.rank() == 1) sleep_s(kTooLate);
       exchange->start(0);
       exchange->finish(0);
     }},
    {"flag_never_comes",
     [](Communicator& c) {
       auto memory = c.peer_memory(8, 6);
       c.barrier();
       if (c.rank() == 0) memory->wait(5, 7, [] { return std::string("tile (3, 4) of rank 1"); });
     }},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || !kScenarios.contains(argv[3])) return 99;
  try {
    for (int launch = 0; launch < (argc > 4 ? std::atoi(argv[4]) : 1); ++launch)
      megaup::comm::select_backend(argv[1]).launch(
          {.ranks = std::atoi(argv[2]), .patience = std::chrono::duration<double>(patience(argv[3]))},
          kScenarios.at(argv[3]));
  } catch (const Error& error) {
    // As the program does: an error without text is told already.
    if (*error.what() != '\0') fmt::print(stderr, "rank {}: {}\n", error.rank(), error.what());
    return megaup::core::exit_status(error.kind());
  }
  return 0;
}
