#include <cstdlib>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <megaup/cli/arguments.hpp>
#include <megaup/cli/command.hpp>
#include <megaup/comm/backend.hpp>
#include <megaup/comm/with_device.hpp>
#include <megaup/core/cuda_devices.hpp>
#include <megaup/core/nvml.hpp>
#include <megaup/core/output_probe.hpp>
#include <megaup/core/version.hpp>
#include <megaup/experiments/environment.hpp>
#include <megaup/ops/arm.hpp>
#include <megaup/ops/fused_kernels.hpp>
#include <megaup/ops/host_gemm.hpp>

namespace megaup::cli {
namespace {

enum class Health { ok, warn, fail };

/// Prints one line a finding and remembers the worst.
class Findings {
 public:
  void add(Health health, std::string_view what, std::string_view mend = {}) {
    constexpr std::string_view kWords[] = {"ok  ", "warn", "fail"};
    fmt::print("{}  {}\n", kWords[static_cast<int>(health)], what);
    if (!mend.empty()) fmt::print("      mend: {}\n", mend);
    if (health == Health::fail) failed_ = true;
  }
  bool failed() const { return failed_; }

 private:
  bool failed_ = false;
};

void machine(Findings& findings) {
  const auto environment = experiments::describe_environment([](const char* name) { return std::getenv(name); });
  findings.add(Health::ok, fmt::format("megaup {} ({})", core::version(), core::git_commit()));
  const int cores = experiments::usable_cores(), all = experiments::hardware_cores();
  findings.add(Health::ok, fmt::format("{} on {}, {}", environment.at("cpu"), environment.at("host"), environment.at("kernel")));
  if (cores < all)
    findings.add(Health::warn, fmt::format("this process may use {} of {} cores", cores, all), "start it without taskset or a cgroup limit, or know that ranks share these cores");
  else
    findings.add(Health::ok, fmt::format("{} cores: up to {} ranks with a core each; more are measured oversubscribed and marked so", cores, cores));
  findings.add(Health::ok, fmt::format("memory {}; best matrix instructions: {}", environment.at("memory_total"), environment.at("cpu_matrix_instructions")));
  const auto governor = environment.find("cpu_governor");
  if (governor != environment.end() && governor->second != "performance")
    findings.add(Health::warn, fmt::format("CPU frequency governor is '{}'", governor->second), "set it to 'performance' for steadier times");
}

void backends(Findings& findings) {
  for (const auto* backend : comm::backends()) {
    if (const auto why = backend->unavailable())
      findings.add(Health::warn, fmt::format("communicator {}: {}", backend->name, *why));
    else
      findings.add(Health::ok, fmt::format("communicator {}: {}", backend->name, backend->doc));
  }
  for (const auto& absent : comm::absent_backends())
    findings.add(Health::warn, fmt::format("communicator {}: not in this build", absent.name), absent.reason);
}

std::string arms_at(ops::Place place, ops::Kind kind) {
  std::string names;
  for (const auto* arm : ops::arms())
    if (arm->kind == kind && arm->place == place) names += fmt::format("{}{}", names.empty() ? "" : " ", arm->name);
  return names;
}

/// Which devices reach which, and through what.
void links(Findings& findings, const std::vector<core::CudaDevice>& devices) {
  for (const auto& from : devices) {
    std::string row;
    bool all = true;
    for (const auto& to : devices) {
      if (from.index == to.index) continue;
      const auto link = core::cuda_link(from.index, to.index);
      row += fmt::format("{}{} to {}", row.empty() ? "" : ", ", link, to.index);
      all = all && link != "unreachable";
    }
    if (!row.empty())
      findings.add(all ? Health::ok : Health::warn, fmt::format("GPU {} reaches: {}", from.index, row),
                   all ? "" : "ranks on devices that do not reach each other are refused: choose others with CUDA_VISIBLE_DEVICES");
  }
}

/// Whether fused kernels are written for this device, and what has been seen of them.
void fused_kernels(Findings& findings, const core::CudaDevice& device) {
  const auto architecture = ops::architecture_named(device.architecture + "a");
  if (!architecture) {
    findings.add(Health::warn, fmt::format("fused kernels on GPU {}: none for {}", device.index, device.architecture), "native arms run");
    return;
  }
  const auto text = fmt::format("fused kernels on GPU {}: {}: {}", device.index, name(*architecture), evidence(*architecture));
  if (*architecture == ops::Architecture::sm_90a)
    findings.add(Health::ok, text);
  else
    findings.add(Health::warn, text, "their results are checked before they are timed, as all are; a wrong one fails its cell");
}

void gpus(Findings& findings) {
  constexpr std::string_view kFewest = "for cp above the number of GPUs, or to time one rank alone: backend: {device: cuda, share_device: true} or {device: cuda, solo: true}";
  if (const auto why = core::no_cuda()) {
    findings.add(Health::warn, fmt::format("GPU: {}", *why), "without one, every number is from host memory");
    return;
  }
  const auto devices = core::cuda_devices();
  const auto driver = core::nvml_driver_version();
  findings.add(Health::ok, fmt::format("CUDA driver {} (CUDA {}), this program uses CUDA {}", driver.empty() ? "of unknown version" : driver,
                                       core::cuda_driver_version(), core::cuda_runtime_version()));
  for (const auto& device : devices) {
    const auto state = core::Nvml(device.uuid).state();
    findings.add(Health::ok, fmt::format("GPU {}: {}, {}, {}, {} multiprocessors, {:.1f} GiB; {:.0f} W, {:.0f} MHz", device.index, device.name, device.uuid,
                                         device.architecture, device.multiprocessors, static_cast<double>(device.bytes) / (1 << 30), state.power_w, 1e-6 * state.sm_clock_hz));
    fused_kernels(findings, device);
  }
  links(findings, devices);
  if (const auto why = comm::no_nccl())
    findings.add(Health::warn, fmt::format("exchange nccl: {}", *why), "native arms use exchange: copy_engine");
  else
    findings.add(Health::ok, fmt::format("exchange nccl, nccl_window, nccl_zero_cta: NCCL {}; each says at its first exchange if it cannot", comm::nccl_version()));
  findings.add(Health::ok, "exchange copy_engine: peer copies with flags");
  for (const auto* operation : ops::operations())
    findings.add(Health::ok, fmt::format("GPU arms of {}: {}", operation->name, arms_at(ops::Place::cuda, operation->kind)));
  findings.add(Health::ok, fmt::format("ranks as threads: up to cp {}; {}", devices.size(), kFewest));
  const char* loading = std::getenv("CUDA_MODULE_LOADING");
  if (loading != nullptr && std::string_view(loading) != "EAGER")
    findings.add(Health::warn, fmt::format("CUDA_MODULE_LOADING={}: a kernel that waits for one that is not loaded yet waits for ever", loading),
                 "unset it: `run` sets it to EAGER");
  const char* connections = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  if (connections != nullptr && std::string_view(connections) == "1")
    findings.add(Health::warn, "CUDA_DEVICE_MAX_CONNECTIONS=1: nothing runs beside a GEMM, and share_device is refused", "unset it");
}

void arms(Findings& findings) {
  for (const auto* operation : ops::operations()) {
    const auto names = arms_at(ops::Place::host, operation->kind);
    findings.add(names.empty() ? Health::fail : Health::ok, fmt::format("operation {}: {}", operation->name, names));
  }
  std::string providers;
  for (const auto* provider : ops::gemm_providers()) providers += fmt::format("{}{}", providers.empty() ? "" : ", ", provider->name);
  findings.add(Health::ok, fmt::format("host GEMM: {} (the faster one is chosen by timing for each shape)", providers));
}

void output(Findings& findings, const std::filesystem::path& folder) {
  try {
    core::probe_output(folder / "megaup-doctor-probe.h5", false, 1 << 20);
    findings.add(Health::ok, fmt::format("{}: results can be written here", std::filesystem::weakly_canonical(folder).string()));
  } catch (const core::Error& error) {
    findings.add(Health::fail, error.what());
  }
}

int run(int argc, char** argv) {
  CLI::App app{"What this machine can measure, each line ok, warn or fail with its mend. Exit status 4 if a line says fail."};
  std::filesystem::path folder = ".";
  app.add_option("--output-folder", folder, "where results are to be written");
  if (const auto status = parse_arguments(app, argc, argv)) return *status;
  Findings findings;
  machine(findings);
  backends(findings);
  arms(findings);
  gpus(findings);
  output(findings, folder);
  return findings.failed() ? core::exit_status(core::ErrorKind::environment) : 0;
}

}  // namespace

extern const Command doctor_command;
const Command doctor_command{"doctor", "what this machine can measure, and the mend for what it cannot", run};

}  // namespace megaup::cli
