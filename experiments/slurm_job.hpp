#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <megaup/experiments/plan.hpp>

/// From a spec to the batch script that measures it under Slurm. docs/slurm.md is the user's view of it.
namespace megaup::experiments {

/// What a user asks of the job. Empty or 0: chosen from the plan.
struct SlurmRequest {
  std::string program;     ///< what the job starts: an absolute path, or a name that the PATH of the job has
  std::string result;      ///< HDF5 file that it writes: an absolute path in a folder that all nodes see
  std::int64_t ranks = 0;  ///< processes; 0: the largest cp
  std::int64_t nodes = 1;
  std::int64_t gpus_per_node = 0;  ///< 0: one a rank (device: cuda), none (host)
  std::int64_t cpus_per_rank = 0;  ///< 0: ranks are not bound and share the cores of their node
  double gflops = 0;               ///< of all ranks together; 0: kHostGflops, or kGpuGflops for each GPU
  std::string time;                ///< Slurm's words (90, 1:30:00, 1-12:00:00); empty: from the estimate
  std::int64_t grace_s = 60;       ///< the program is asked to stop so long before the time is over
  std::string partition, account;
  std::string mpi = "pmix";             ///< srun --mpi
  std::vector<std::string> directives;  ///< further #SBATCH lines, after all others: the last one counts
  std::vector<std::string> setup;       ///< shell lines before the measurement (module load ...)
};

/// Rates that estimates start from: 100 GFLOP/s is that of `plan`; BF16 GEMMs of a Hopper GPU reach 700 to 800 TFLOP/s.
inline constexpr double kHostGflops = 100, kGpuGflops = 500'000;

/// How the job is laid out.
struct SlurmJob {
  Plan plan;               ///< for this number of processes: cells that it cannot measure are refused in it
  bool threads = false;    ///< ranks are threads of one task
  std::int64_t ranks = 1;  ///< processes; of threads, those of the largest cell
  std::int64_t nodes = 1, tasks = 1, gpus_per_node = 0;
  double gflops = 0;            ///< assumed
  double gemm_s = 0;            ///< GEMMs of all cells at that rate
  std::int64_t n_too_long = 0;  ///< cells whose GEMMs alone take longer than cell_timeout, at that rate
  double limit_s = 0;           ///< the job's time
  std::string time;             ///< the same in Slurm's words

  std::int64_t tasks_per_node() const { return tasks / nodes; }
};

/// Seconds of a Slurm time limit: MINUTES, MINUTES:SECONDS, HOURS:MINUTES:SECONDS, DAYS-HOURS, DAYS-HOURS:MINUTES or
/// DAYS-HOURS:MINUTES:SECONDS, each number at most six digits; nothing if it is none of them.
std::optional<std::int64_t> slurm_seconds(std::string_view text);

/// Lays the job out. Processes (communicator auto and mpi): as many as the largest cp, consecutive ones form the groups
/// of smaller cells. Threads (communicator threads and self, and ranks that share a device): one task that has all.
///
/// Time: 5 min, for each cell 30 s and three times its GEMMs, but not more than its cell_timeout, and the grace; whole
/// minutes.
///
/// Pure: no device, clock or file is asked. Throws core::Error{usage} with the mend: no cell can run; a cp does not
/// divide the largest one and `ranks` is not given; ranks that the nodes do not divide; several nodes, or `ranks`, where
/// ranks are threads; several nodes with device: cuda; GPUs on a host, or fewer than ranks; a time that is none, or not
/// longer than the grace; words that do not fit on one line of a script.
SlurmJob slurm_job(const Spec& spec, const PlanOptions& options, const SlurmRequest& request);

/// The batch script, complete with the spec's bytes. Requires a job made from the same request.
std::string slurm_script(const SlurmJob& job, const SlurmRequest& request);

/// What a user should know before the job waits in a queue: one line each.
std::vector<std::string> slurm_notes(const SlurmJob& job);

}  // namespace megaup::experiments
