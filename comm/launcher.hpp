#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include <megaup/core/error.hpp>

namespace megaup::comm {

/// Looks up a variable, as std::getenv does; a parameter so that tests need no real launcher.
using Environment = std::function<const char*(const char*)>;

struct LaunchedTasks {
  std::string_view variable;  ///< which one says so
  int tasks;
};

/// Processes that the process manager of an MPI library has started (OMPI_COMM_WORLD_SIZE, PMI_SIZE).
std::optional<LaunchedTasks> mpi_tasks(const Environment& environment);
/// Tasks of the srun step that this process belongs to (SLURM_STEP_NUM_TASKS).
std::optional<LaunchedTasks> slurm_step_tasks(const Environment& environment);
/// Tasks of the Slurm allocation (SLURM_NTASKS). Batch scripts that start one process see it as well.
std::optional<LaunchedTasks> slurm_allocated_tasks(const Environment& environment);

/// Why a backend that makes all ranks inside one process must not run here: a launcher has started several processes,
/// and each would do the whole work again. Nothing if this is the only process.
core::Reason several_processes(const Environment& environment);

/// several_processes of this process's environment.
core::Reason several_processes();

}  // namespace megaup::comm
