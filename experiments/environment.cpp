#include <megaup/experiments/environment.hpp>

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include <fmt/format.h>

#include <megaup/core/version.hpp>

namespace megaup::experiments {
namespace {

/// Variables that change what is measured, or say where. A fixed list: nothing else of the environment reaches a file.
constexpr std::array kRecordedVariables = {
    "OMP_NUM_THREADS",     "OMP_PROC_BIND",         "OMP_PLACES",          "DNNL_MAX_CPU_ISA",     "DNNL_CPU_ISA_HINTS",
    "ONEDNN_MAX_CPU_ISA",  "HDF5_USE_FILE_LOCKING", "OMPI_MCA_btl",        "OMPI_MCA_pml",         "KOKKOS_NUM_THREADS",
    "SLURM_JOB_ID",        "SLURM_STEP_ID",         "SLURM_JOB_NODELIST",  "SLURM_JOB_PARTITION",  "SLURM_STEP_NUM_TASKS",
    "SLURM_CPUS_PER_TASK", "SLURM_CPU_BIND",        "MALLOC_ARENA_MAX",    "LOADEDMODULES",
    "CUDA_VISIBLE_DEVICES", "CUDA_MODULE_LOADING",  "CUDA_DEVICE_MAX_CONNECTIONS", "NCCL_NVLS_ENABLE", "NCCL_P2P_DISABLE", "NCCL_ALGO",
    "NCCL_PROTO", "NCCL_CTA_POLICY", "NCCL_CUMEM_ENABLE", "NCCL_WIN_ENABLE"};

std::string first_line_value(const char* file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    const auto start = colon == std::string::npos ? std::string::npos : line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? std::string{} : line.substr(start);
  }
  return {};
}

std::string cpu_name() {
  auto name = first_line_value("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown" : name;
}

/// The one word of the flags that decides which host GEMM is possible.
std::string matrix_instructions() {
  const auto flags = " " + first_line_value("/proc/cpuinfo", "flags") + " ";
  for (const char* word : {"amx_bf16", "avx512_bf16", "avx512f", "avx2"})
    if (flags.find(fmt::format(" {} ", word)) != std::string::npos) return word;
  return "baseline";
}

std::string trimmed_file(const char* file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

int hardware_cores() { return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)); }

std::string hardware_identity() {
  utsname system{};
  uname(&system);
  return fmt::format("{} | {} | {} | {} cores", system.nodename, cpu_name(), matrix_instructions(), hardware_cores());
}

std::map<std::string, std::string> describe_environment(const ReadVariable& variable) {
  utsname system{};
  uname(&system);
  std::map<std::string, std::string> out;
  out["host"] = system.nodename;
  out["kernel"] = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  out["device"] = "host";
  out["cpu"] = cpu_name();
  out["cpu_matrix_instructions"] = matrix_instructions();
  out["cores"] = std::to_string(usable_cores());
  out["memory_total"] = first_line_value("/proc/meminfo", "MemTotal");
  if (auto governor = trimmed_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"); !governor.empty())
    out["cpu_governor"] = governor;
  for (const auto& [library, version] : core::build_libraries()) out[fmt::format("build_{}", library)] = version;
  for (const char* name : kRecordedVariables)
    if (const char* value = variable(name)) out[fmt::format("variable_{}", name)] = value;
  return out;
}

}  // namespace megaup::experiments
