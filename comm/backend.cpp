#include <megaup/comm/backend.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include <megaup/comm/launcher.hpp>

namespace megaup::comm {
namespace {

std::string names() {
  std::string text = "auto";
  for (const Backend* backend : backends()) text += fmt::format(", {}", backend->name);
  return text;
}

std::string why_unknown(std::string_view name) {
  for (const AbsentBackend& absent : absent_backends())
    if (absent.name == name) return std::string(absent.reason);
  return "there is no such backend";
}

const Backend& usable(const Backend& backend) {
  if (const core::Reason reason = backend.unavailable())
    throw core::Error(core::ErrorKind::environment, fmt::format("communicator {}: {}", backend.name, *reason));
  return backend;
}

const Backend& automatic() {
  for (const Backend* backend : backends())
    if (backend->launcher_ranks() > 1) return usable(*backend);
  const auto environment = [](const char* name) -> const char* { return std::getenv(name); };
  if (const core::Reason reason = launcher_mismatch(environment, 1))
    throw core::Error(core::ErrorKind::environment, *reason);
  return select_backend("threads");
}

}  // namespace

const Backend& select_backend(std::string_view name) {
  if (name == "auto") return automatic();
  for (const Backend* backend : backends())
    if (backend->name == name) return usable(*backend);
  throw core::Error(core::ErrorKind::environment,
                    fmt::format("communicator {}: {}; this program has {}", name, why_unknown(name), names()));
}

core::Reason launcher_mismatch(const std::function<const char*(const char*)>& environment, int ranks) {
  // A process manager of MPI speaks for exactly the processes that it started, so it goes before Slurm's variables: an
  // mpirun inside an allocation may use fewer tasks than the allocation has. In the same way a step goes before its
  // allocation.
  if (const auto started = mpi_tasks(environment)) {
    if (started->tasks == ranks) return std::nullopt;
    return fmt::format(
        "{}={} with an MPI world of {}: the launcher and the MPI library of this program do not belong together, so "
        "every process would believe "
        "that it is alone; start it with that library's own mpirun, or with srun --mpi=pmix",
        started->variable, started->tasks, ranks);
  }
  if (const auto started = slurm_step_tasks(environment)) {
    if (started->tasks == ranks) return std::nullopt;
    return fmt::format(
        "SLURM_NTASKS={} with an MPI world of {}: srun started {} tasks, and every one would believe that it is alone; "
        "start with srun "
        "--mpi=pmix (or with srun -n 1 to have ranks as threads)",
        started->tasks, ranks, started->tasks);
  }
  const auto allocated = slurm_allocated_tasks(environment);
  if (!allocated || allocated->tasks == 1 || allocated->tasks == ranks) return std::nullopt;
  return fmt::format(
      "SLURM_NTASKS={} with an MPI world of {}: the allocation has {} tasks, but this process was started without a "
      "launcher; start with srun "
      "--mpi=pmix, or write communicator: threads into the spec to have ranks as threads of this one process",
      allocated->tasks, ranks, allocated->tasks);
}

}  // namespace megaup::comm
