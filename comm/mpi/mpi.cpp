#include <mpi.h>

#include <cstdlib>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include <megaup/comm/backend.hpp>
#include <megaup/comm/cause.hpp>
#include <megaup/comm/launcher.hpp>
#include <megaup/comm/mpi/detail/job.hpp>
#include <megaup/comm/mpi/detail/mpi_communicator.hpp>
#include <megaup/comm/mpi/detail/session.hpp>

namespace megaup::comm {

extern const Backend mpi_backend;

namespace mpi {
namespace {

const char* environment(const char* name) { return std::getenv(name); }

/// Ranks that were made before MPI_Init. PMIx names no world size, so a Slurm step is believed only when PMIx is there
/// to join its tasks.
int launcher_ranks() {
  if (const auto started = mpi_tasks(environment)) return started->tasks;
  if (std::getenv("PMIX_RANK") != nullptr)
    if (const auto started = slurm_step_tasks(environment)) return started->tasks;
  return 0;
}

void check_world(int wanted, int size) {
  if (const core::Reason reason = launcher_mismatch(environment, size))
    throw core::Error(core::ErrorKind::environment, *reason);
  if (wanted != 0 && wanted != size)
    throw core::Error(
        core::ErrorKind::usage,
        fmt::format("communicator mpi: {} ranks are wanted but the launcher made {}: start with mpirun -n {}", wanted,
                    size, wanted));
}

/// The error of this rank, if any. Does not return when the rank was torn out of a wait.
std::optional<core::Error> run(Job& job, const std::shared_ptr<Group>& world, const LaunchOptions& options,
                               const std::function<void(Communicator&)>& body) {
  try {
    check_world(options.ranks, job.size());
    MpiCommunicator communicator(job, world, job.rank(), nullptr);
    body(communicator);
  } catch (const PeerAborted&) {
    job.tear_down();
  } catch (...) {
    return current_cause(job.rank());
  }
  return std::nullopt;
}

/// A rank that could not join has no other way to end its peers, which wait for it inside MPI.
[[noreturn]] void end_without_job(const core::Error& cause) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  print_cause(cause.what(), rank);
  MPI_Abort(MPI_COMM_WORLD, core::exit_status(cause.kind()));
  std::_Exit(core::exit_status(cause.kind()));
}

void launch(const LaunchOptions& options, const std::function<void(Communicator&)>& body) {
  Session session;
  std::optional<Job> joined;
  try {
    joined.emplace(options);
  } catch (...) {
    end_without_job(current_cause(-1));
  }
  Job& job = *joined;
  auto world = std::make_shared<Group>();
  world->comm = job.world();
  world->launch_ranks.resize(static_cast<std::size_t>(job.size()));
  std::iota(world->launch_ranks.begin(), world->launch_ranks.end(), 0);

  const std::optional<core::Error> mine = run(job, world, options, body);
  const std::optional<core::Error> error = job.finish(mine);
  world->releases.collect(job, job.world());
  job.release();
  session.end();
  if (error) throw *error;
}

}  // namespace
}  // namespace mpi

constinit const Backend mpi_backend{
    .name = "mpi",
    .doc = "ranks are processes that mpirun or srun has started",
    .unavailable = mpi::no_session,
    .launcher_ranks = mpi::launcher_ranks,
    .launch = mpi::launch,
};

}  // namespace megaup::comm
