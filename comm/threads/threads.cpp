#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <megaup/comm/backend.hpp>
#include <megaup/comm/cause.hpp>
#include <megaup/comm/cores.hpp>
#include <megaup/comm/launcher.hpp>
#include <megaup/comm/threads/threads_communicator.hpp>

namespace megaup::comm {

extern const Backend threads_backend;

namespace threads {
namespace {

void run_rank(World& world, const std::shared_ptr<Group>& group, int rank, std::optional<int> core,
              const std::function<void(Communicator&)>& body) {
  try {
    if (core) pin_to_core(*core);
    ThreadsCommunicator communicator(world, group, rank);
    body(communicator);
  } catch (const PeerAborted&) {
    // Not a cause: another rank's is in the world already.
  } catch (...) {
    world.abort(current_cause(rank), rank);
  }
}

void launch(const LaunchOptions& options, const std::function<void(Communicator&)>& body) {
  if (options.ranks < 1)
    throw core::Error(core::ErrorKind::usage,
                      fmt::format("communicator threads: {} ranks are wanted, at least 1", options.ranks));
  const std::vector<int> cores = allowed_cores();
  const auto P = static_cast<std::size_t>(options.ranks);
  const bool crowded = P > cores.size();
  World world(options, crowded);
  std::vector<int> launch_ranks;
  for (int rank = 0; rank < options.ranks; ++rank) launch_ranks.push_back(rank);
  const auto group = std::make_shared<Group>(std::move(launch_ranks));

  // Every rank gets a thread of its own, rank 0 too: the caller's core mask stays as it is.
  std::vector<std::jthread> ranks;
  try {
    for (int rank = 0; rank < options.ranks; ++rank) {
      const auto core = options.pin && !crowded ? std::optional(cores[static_cast<std::size_t>(rank)]) : std::nullopt;
      ranks.emplace_back([&world, &group, &body, rank, core] { run_rank(world, group, rank, core, body); });
    }
  } catch (const std::system_error& error) {
    const int failed = static_cast<int>(ranks.size());
    world.abort(
        core::Error(core::ErrorKind::environment,
                    fmt::format("cannot start a thread for rank {} of {}: {}", failed, P, error.what()), failed),
        failed);
  }
  ranks.clear();  // joins
  if (world.cause()) throw *world.cause();
}

int no_launcher() { return 0; }

}  // namespace
}  // namespace threads

constinit const Backend threads_backend{
    .name = "threads",
    .doc = "ranks are threads of this process; needs no launcher",
    .unavailable = several_processes,
    .launcher_ranks = threads::no_launcher,
    .launch = threads::launch,
};

}  // namespace megaup::comm
