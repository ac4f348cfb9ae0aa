#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string_view>

#include <megaup/core/error.hpp>

namespace megaup::comm {

class Communicator;

struct LaunchOptions {
  /// World size wanted. A launcher-made world (mpi) must have it already; 0 takes what is there.
  int ranks = 1;
  /// A wait longer than this is a fault: the watchdog names what is missing.
  std::chrono::duration<double> patience{60.0};
  /// threads: one core a rank when there are enough. mpi leaves that to the launcher, self touches nothing.
  bool pin = true;
};

/// A way to have ranks. `launch` makes the world, calls `body` once on every rank that lives in this process (mpi: one;
/// threads: all) and returns when all have ended. If a rank throws, every rank is aborted, and the FIRST error is
/// rethrown here with its rank.
///
/// mpi: the first error is printed on stderr with its rank, before any process ends. When every rank has thrown, or
/// returned, by itself, MPI is finalised and launch throws in every process an error of that kind and rank with an
/// empty message, so that programs that print every message print nothing twice. When ranks must be torn out of their
/// waits launch does not return: MPI_Abort ends all processes with exit_status(kind). MPI can start only once in a
/// process, so a second launch needs an MPI that the program itself has initialised.
struct Backend {
  std::string_view name;  ///< self | threads | mpi
  std::string_view doc;
  core::Reason (*unavailable)();  ///< why it cannot be used in this process; nothing = it can
  int (*launcher_ranks)();        ///< ranks that a launcher has already made (mpi under mpirun), else 0
  void (*launch)(const LaunchOptions&, const std::function<void(Communicator&)>& body);
};

/// Compiled backends, from a table that the linker checks.
std::span<const Backend* const> backends();

/// Backends that this build lacks, and why.
struct AbsentBackend {
  std::string_view name, reason;
};
std::span<const AbsentBackend> absent_backends();

/// Finds a backend by name; `auto` = mpi when a launcher made more than one rank, else threads. Throws
/// Error{environment} naming the reason and what exists; for `auto` also when launcher_mismatch has a reason. self and
/// threads are unavailable in a process that a launcher started together with others, because each would do the whole
/// work.
const Backend& select_backend(std::string_view name);

/// The launcher says how many tasks there are (OMPI_COMM_WORLD_SIZE, PMI_SIZE, SLURM_STEP_NUM_TASKS, else SLURM_NTASKS
/// in `environment`); `ranks` is what MPI sees (1 when it is not used). A reason when they disagree: every process
/// would believe that it is rank 0 of 1. The hint is part of the reason. mpi checks it in launch, `auto` in
/// select_backend.
core::Reason launcher_mismatch(const std::function<const char*(const char*)>& environment, int ranks);

}  // namespace megaup::comm
