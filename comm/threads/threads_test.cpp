#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/comm/backend.hpp>
#include <megaup/comm/communicator.hpp>
#include <megaup/comm/cores.hpp>

namespace megaup::comm {
namespace {

using Catch::Matchers::ContainsSubstring;

/// The error that the launch ends with; a failure if it has none.
core::Error error_of(const LaunchOptions& options, const std::function<void(Communicator&)>& body,
                     std::string_view backend = "threads") {
  try {
    select_backend(backend).launch(options, body);
  } catch (const core::Error& error) {
    return error;
  }
  FAIL("the launch had no error");
  return core::Error(core::ErrorKind::usage, "");
}

std::ptrdiff_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

/// For waits that are to fail while others must not: long enough for a rank that has to share its core with many.
constexpr std::chrono::seconds kPatience(2);

void sleep_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

TEST_CASE("two hundred launches leave no thread behind") {
  std::thread([] {}).join();  // a sanitizer makes a thread of its own when it sees the first one
  const auto before = threads_of_this_process();
  std::atomic<int> runs = 0;
  for (int i = 0; i < 200; ++i)
    select_backend("threads").launch({.ranks = 4}, [&](Communicator& c) {
      auto exchange = c.exchange({.bytes_per_peer = 64, .slots = 1});
      exchange->start(0);
      exchange->finish(0);
      ++runs;
    });
  CHECK(runs == 800);
  CHECK(threads_of_this_process() == before);
}

TEST_CASE("an impossible number of ranks is refused") {
  CHECK(error_of({.ranks = 0}, [](Communicator&) {}).kind() == core::ErrorKind::usage);
  CHECK(error_of({.ranks = -3}, [](Communicator&) {}).kind() == core::ErrorKind::usage);
  CHECK_THAT(error_of(
                 {.ranks = 2}, [](Communicator&) {}, "self")
                 .what(),
             ContainsSubstring("2 are wanted"));
}

TEST_CASE("each rank has one core of its own when there are enough, and the caller keeps all of its cores") {
  const std::vector<int> before = allowed_cores();
  const auto ranks = static_cast<int>(std::min<std::size_t>(before.size(), 8));
  std::mutex mutex;
  std::vector<std::vector<int>> seen(static_cast<std::size_t>(ranks));
  const auto body = [&](Communicator& c) {
    const std::lock_guard lock(mutex);
    seen[static_cast<std::size_t>(c.rank())] = allowed_cores();
    if (c.placement().oversubscribed) throw std::runtime_error("there is a core for every rank");
  };
  select_backend("threads").launch({.ranks = ranks}, body);
  for (std::size_t r = 0; r < seen.size(); ++r) CHECK(seen[r] == std::vector<int>{before[r]});
  select_backend("threads").launch({.ranks = ranks, .pin = false}, body);
  for (const auto& cores : seen) CHECK(cores == before);
  select_backend("threads").launch({.ranks = static_cast<int>(before.size()) + 1}, [&](Communicator& c) {
    if (allowed_cores() != before) throw std::runtime_error("more ranks than cores: none may be pinned");
    if (!c.placement().oversubscribed) throw std::runtime_error("more ranks than cores: placement must say so");
  });
  CHECK(allowed_cores() == before);
}

TEST_CASE("when rank 1 of 4 throws before exchange 3, the launch ends with its error") {
  const core::Error error = error_of({.ranks = 4}, [](Communicator& c) {
    auto exchange = c.exchange({.bytes_per_peer = 100, .slots = 1});
    for (int i = 0;; ++i) {
      if (c.rank() == 1 && i == 3) throw core::Error(core::ErrorKind::validation, "element 17 is wrong");
      exchange->start(0);
      exchange->finish(0);
    }
  });
  CHECK(error.kind() == core::ErrorKind::validation);
  CHECK(error.rank() == 1);
  CHECK(std::string(error.what()) == "element 17 is wrong");
}

TEST_CASE("the first cause wins over later ones and over the ranks that were ended because of it") {
  const core::Error error = error_of({.ranks = 8}, [](Communicator& c) {
    if (c.rank() == 5) throw std::runtime_error("first");
    try {
      c.split(c.rank() % 2)->barrier();
    } catch (const core::Error&) {
      if (c.rank() == 2) throw std::runtime_error("second");
      throw;
    }
  });
  CHECK(error.kind() == core::ErrorKind::environment);
  CHECK(error.rank() == 5);
  CHECK(std::string(error.what()) == "first");
}

TEST_CASE("a rank that throws at once, while others are still being made, ends the launch") {
  for (int i = 0; i < 20; ++i) {
    const int culprit = i % 8;
    const core::Error error = error_of({.ranks = 8}, [&](Communicator& c) {
      if (c.rank() == culprit) throw core::Error(core::ErrorKind::cell, "at once");
      c.barrier();
    });
    CHECK(error.rank() == culprit);
  }
}

TEST_CASE("an error is reported although its rank and all others return in peace") {
  const core::Error error = error_of({.ranks = 2}, [](Communicator& c) {
    c.barrier();
    if (c.rank() == 1) c.abort(core::Error(core::ErrorKind::stopped, "enough"));
  });
  CHECK(error.kind() == core::ErrorKind::stopped);
  CHECK(error.rank() == 1);
}

TEST_CASE("abort from another thread ends the waits of all ranks") {
  const std::string backend = GENERATE("self", "threads");
  const core::Error error = error_of(
      {.ranks = backend == "self" ? 1 : 4},
      [](Communicator& c) {
        std::jthread other;
        if (c.rank() == 0)
          other = std::jthread([&c] {
            sleep_ms(50);
            c.abort(core::Error(core::ErrorKind::stopped, "asked to stop"));
          });
        auto memory = c.peer_memory(8, 1);
        memory->wait(0, 1, [] { return std::string("a signal that never comes"); });
      },
      backend);
  CHECK(error.kind() == core::ErrorKind::stopped);
  CHECK(std::string(error.what()) == "asked to stop");
}

TEST_CASE("a flag that never comes is named with its rank, its value, the epoch and the tile") {
  const std::string backend = GENERATE("self", "threads");
  const core::Error error = error_of(
      {.ranks = 1, .patience = std::chrono::milliseconds(300)},  // a second rank might be slower than that to get here
      [](Communicator& c) {
        auto memory = c.peer_memory(8, 4);
        memory->signal(0, 2, 3);
        memory->wait(2, 5, [] { return std::string("tile (3, 4) of rank 1"); });
      },
      backend);
  CHECK(error.kind() == core::ErrorKind::cell);
  CHECK(error.rank() == 0);
  CHECK_THAT(error.what(), ContainsSubstring("flag 2 of rank 0") && ContainsSubstring("become 5") &&
                               ContainsSubstring("it is 3") && ContainsSubstring("tile (3, 4) of rank 1") &&
                               ContainsSubstring("0.3 s"));
}

TEST_CASE("a rank that does not come to a barrier or an exchange is named by its number in the launch") {
  const bool exchanging = GENERATE(false, true);
  const core::Error error = error_of({.ranks = 4, .patience = kPatience}, [&](Communicator& c) {
    const auto odd = c.split(c.rank() % 2);
    auto exchange = odd->exchange({.bytes_per_peer = 4, .slots = 1});
    if (c.rank() != 1) return;
    if (exchanging) {
      exchange->start(0);
      exchange->finish(0);
    }
    odd->barrier();
  });
  CHECK(error.kind() == core::ErrorKind::cell);
  CHECK(error.rank() == 1);
  CHECK_THAT(error.what(), ContainsSubstring("rank 3"));
}

TEST_CASE("a wait of one cell that ran out of patience leaves the communicator usable") {
  std::atomic<bool> over = false;
  select_backend("threads").launch({.ranks = 2, .patience = kPatience}, [&](Communicator& c) {
    bool failed = false;
    {
      auto memory = c.peer_memory(8, 1);
      try {
        if (c.rank() == 0) memory->wait(0, 1, [] { return std::string("nobody"); });
      } catch (const core::Error&) {
        failed = true;
      }
      if (c.rank() == 1) {
        over.wait(false);  // or it would lose patience with rank 0
      } else {
        over = true;
        over.notify_one();
      }
    }
    if (!c.any(failed)) throw std::runtime_error("rank 0 had to fail");
    auto exchange = c.exchange({.bytes_per_peer = 4, .slots = 1});
    exchange->start(0);
    exchange->finish(0);
  });
  SUCCEED("the ranks went on together");
}

}  // namespace
}  // namespace megaup::comm
