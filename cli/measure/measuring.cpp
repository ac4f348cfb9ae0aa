#include <megaup/cli/measure/measuring.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include <megaup/analysis/sequential.hpp>
#include <megaup/cli/measure/progress.hpp>
#include <megaup/cli/measure/stop_watch.hpp>
#include <megaup/cli/show.hpp>
#include <megaup/comm/backend.hpp>
#include <megaup/core/cuda_devices.hpp>
#include <megaup/core/version.hpp>
#include <megaup/experiments/agreement.hpp>
#include <megaup/experiments/devices.hpp>
#include <megaup/experiments/environment.hpp>
#include <megaup/ops/a2a_gemm/pull_plan.hpp>
#include <megaup/ops/arm.hpp>
#include <megaup/ops/gemm_a2a/push_plan.hpp>
#include <megaup/ops/operation.hpp>

namespace megaup::cli {
namespace {

using namespace std::chrono_literals;

/// mpirun kills what still lives a second after SIGTERM; alone we may end the observation in hand.
constexpr auto kGraceAlone = 3000ms, kGraceUnderLauncher = 200ms;
constexpr auto kRootWrites = 5000ms;

const char* variable(const char* name) { return std::getenv(name); }

const comm::Backend& choose_backend(const experiments::Spec& spec) {
  const auto& backend = comm::select_backend(experiments::name(spec.backend.communicator));
  if (auto why = comm::launcher_mismatch(variable, std::max(1, backend.launcher_ranks())))
    throw core::Error(core::ErrorKind::environment, *why);
  return backend;
}

experiments::Stopping stopping() {
  return {[](const experiments::Stop& stop) { return analysis::looks(stop.max_pairs); },
          [](const core::CellRecord& cell, const experiments::Stop& stop) {
            return analysis::may_stop(cell, stop.half_width_s * 1e3, stop.max_pairs);  // s -> ms
          }};
}

void refuse_empty(const experiments::Plan& plan) {
  if (plan.n_runnable > 0) return;
  std::string reasons;
  for (const auto& cell : plan.cells) reasons += fmt::format("\n  {}: {}", cell.id, cell.refused);
  throw core::Error(core::ErrorKind::usage, fmt::format("{}: no cell can run:{}", plan.spec.file, reasons));
}

void require_devices(const experiments::Spec& spec) {
  if (spec.backend.device != experiments::DeviceKind::cuda) return;
  if (const auto why = experiments::unfit_variables(spec, variable)) throw core::Error(core::ErrorKind::environment, *why);
  if (const auto why = core::no_cuda())
    throw core::Error(core::ErrorKind::environment, fmt::format("{}: device: cuda: {}", spec.file, *why));
}

int status_of(const experiments::RunOutcome& outcome) {
  if (outcome.unfinished > 0) return core::exit_status(core::ErrorKind::stopped);
  if (outcome.validation_failed) return core::exit_status(core::ErrorKind::validation);
  return outcome.failed > 0 || outcome.refused > 0 ? core::exit_status(core::ErrorKind::cell) : 0;
}

void report(const experiments::Plan& plan, const MeasureRequest& request, const experiments::RunOutcome& outcome) {
  show_table({request.output});
  for (const auto& cell : plan.cells)
    if (!cell.refused.empty()) fmt::print(stderr, "refused: {}: {}\n", cell.id, cell.refused);
  for (const auto& cell : outcome.record.cells)
    if (cell.status == "failed") fmt::print(stderr, "failed: {}: {}\n", cell.id, cell.reason);
  if (outcome.unfinished > 0)
    fmt::print(stderr, "megaup: stopped with {} cells to go: `megaup resume {}` goes on\n", outcome.unfinished, request.output.string());
  fmt::print(stderr, "megaup: wrote {}\n", request.output.string());
}

}  // namespace

KnownTables::KnownTables() {
  for (const auto* operation : ops::operations()) operations_.push_back(operation->name);
  for (const auto* arm : ops::arms()) {
    auto& place = arm->place == ops::Place::cuda ? cuda_ : host_;
    auto& names = arm->bound ? place.bounds : place.arms;
    if (std::find(names.begin(), names.end(), arm->name) == names.end()) names.push_back(arm->name);
  }
  for (const auto& kernel : ops::push_kernels()) push_.kernels.push_back(kernel.name);
  for (const auto& order : ops::push_orders()) push_.orders.push_back(order.name);
  for (const auto& kernel : ops::pull_kernels()) pull_.kernels.push_back(kernel.name);
  for (const auto& order : ops::pull_orders()) pull_.orders.push_back(order.name);
  if (cuda_.arms.empty()) no_cuda_arms_ = core::no_cuda().value_or("this program has no arms for it");
}

void prepare_devices(const experiments::Spec& spec) {
  if (spec.backend.device != experiments::DeviceKind::cuda) return;
  // Loading a kernel waits for those that run, and those may wait for the one that is loaded.
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  setenv("NCCL_NVLS_ENABLE", "0", 0);  // multicast stays off
}

std::int64_t device_bytes(const experiments::Spec& spec) {
  if (spec.backend.device != experiments::DeviceKind::cuda || core::no_cuda()) return 0;
  return experiments::smallest_device_bytes();
}

int measure(const MeasureRequest& request) {
  const KnownTables known;
  const auto spec = request.yaml.empty() ? experiments::load_spec(request.spec, known.names())
                                         : experiments::parse_spec(request.yaml, request.spec, known.names());
  const auto& backend = choose_backend(spec);
  prepare_devices(spec);
  StopWatch stop;  // before any other thread exists: they inherit the blocked signals
  require_devices(spec);
  const auto plan = experiments::plan(
      spec, {.world = backend.launcher_ranks(), .version = core::version(), .device_bytes = device_bytes(spec)});
  refuse_empty(plan);

  auto environment = experiments::describe_environment(variable);
  environment["communicator"] = backend.name;
  environment["hardware"] = experiments::hardware_identity();
  const bool on_devices = spec.backend.device == experiments::DeviceKind::cuda;
  if (on_devices) {
    experiments::describe_devices(environment);
    environment["hardware"] += experiments::device_identity();
    environment["push"] = text(spec.backend.push);  // `compare` pairs cells of other kernels, and says so
    environment["pull"] = text(spec.backend.pull);
  }
  Progress progress(isatty(STDERR_FILENO) != 0);
  experiments::Run run(plan, backend, {.output = request.output,
                             .overwrite = request.overwrite,
                             .resume = request.resume,
                             .environment = environment,
                             .on_cell = [&](const auto& event) { progress.show(event); },
                             .on_refusal = [](const core::Error& error) { fmt::print(stderr, "megaup: {}\n", error.what()); },
                             .find_arm = ops::arms_at(on_devices ? ops::Place::cuda : ops::Place::host),
                             .stopping = stopping()});
  stop.watch(backend.launcher_ranks() > 0 ? kGraceUnderLauncher : kGraceAlone, [&] {
    if (run.write_unfinished())
      fmt::print(stderr, "megaup: finished cells are in {}: `megaup resume {}` goes on\n", request.output.string(), request.output.string());
    else
      std::this_thread::sleep_for(kRootWrites);  // a launcher kills all processes when the first one ends: let it be the root
  });
  try {
    const auto outcome = run.run(stop.requested());
    if (outcome.root) report(plan, request, outcome);
    return status_of(outcome);
  } catch (const experiments::AgreedError& error) {
    return core::exit_status(error.kind());
  }
}

}  // namespace megaup::cli
