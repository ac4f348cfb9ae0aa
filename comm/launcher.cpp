#include <megaup/comm/launcher.hpp>

#include <charconv>
#include <cstdlib>
#include <initializer_list>

#include <fmt/format.h>

namespace megaup::comm {
namespace {

/// The first variable that holds a positive number (Slurm also writes forms such as "2(x3)", which count nothing here).
std::optional<LaunchedTasks> first_count(const Environment& environment, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* value = environment(name);
    if (value == nullptr) continue;
    const std::string_view text(value);
    int tasks = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tasks);
    if (error == std::errc() && end == text.data() + text.size() && tasks > 0) return LaunchedTasks{name, tasks};
  }
  return std::nullopt;
}

}  // namespace

std::optional<LaunchedTasks> mpi_tasks(const Environment& environment) {
  return first_count(environment, {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"});
}

std::optional<LaunchedTasks> slurm_step_tasks(const Environment& environment) {
  return first_count(environment, {"SLURM_STEP_NUM_TASKS"});
}

std::optional<LaunchedTasks> slurm_allocated_tasks(const Environment& environment) {
  return first_count(environment, {"SLURM_NTASKS"});
}

core::Reason several_processes(const Environment& environment) {
  for (const auto& started : {mpi_tasks(environment), slurm_step_tasks(environment)}) {
    if (!started) continue;
    if (started->tasks == 1) return std::nullopt;
    return fmt::format(
        "{}={}: a launcher started {} processes, and each would run all ranks by itself; use communicator: mpi or "
        "start one process",
        started->variable, started->tasks, started->tasks);
  }
  return std::nullopt;
}

core::Reason several_processes() {
  return several_processes([](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace megaup::comm
