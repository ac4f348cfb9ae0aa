#pragma once

#include <functional>
#include <map>
#include <string>

namespace megaup::experiments {

/// Reads one environment variable; nullptr = not set. Passed in, so that the environment is read in one place (cli).
using ReadVariable = std::function<const char*(const char*)>;

/// What a reader of the file must know about this machine: host, cpu, cores, memory, kernel, compiler, libraries, Slurm job, selected variables.
/// Variables are a fixed list (OMP_*, SLURM_JOB_ID, ...); anything that looks like a secret is never in it.
std::map<std::string, std::string> describe_environment(const ReadVariable& variable);

/// The part of the environment that a measured number depends on: cells measured elsewhere are measured again by `resume`.
std::string hardware_identity();

/// Cores that the calling thread may use, and all that the machine has.
int usable_cores();
int hardware_cores();

}  // namespace megaup::experiments
