#include <megaup/experiments/slurm_job.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/core/error.hpp>
#include <megaup/core/text.hpp>

namespace megaup::experiments {
namespace {

constexpr double kMinute = 60;
constexpr double kStartSeconds = 5 * kMinute, kChecksSeconds = 30, kSlower = 3;

template <class... Args>
[[noreturn]] void refuse(const Spec& spec, fmt::format_string<Args...> text, Args&&... args) {
  throw core::Error(core::ErrorKind::usage,
                    fmt::format("{}: {}", core::one_line(spec.file), fmt::format(text, std::forward<Args>(args)...)));
}

/// Numbers apart by ':'; nothing if one of them is none.
std::optional<std::vector<std::int64_t>> numbers(std::string_view text) {
  constexpr std::size_t kDigits = 6;
  std::vector<std::int64_t> out;
  for (;;) {
    const std::string_view part = text.substr(0, text.find(':'));
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || part.size() > kDigits || part.front() == '-')
      return std::nullopt;
    out.push_back(value);
    if (part.size() == text.size()) return out;
    text.remove_prefix(part.size() + 1);
  }
}

std::string slurm_time(std::int64_t seconds) {
  const std::int64_t days = seconds / 86400, hours = seconds / 3600 % 24, minutes = seconds / 60 % 60;
  return fmt::format("{}{:02}:{:02}:00", days > 0 ? fmt::format("{}-", days) : "", hours, minutes);
}

/// Of the cells that run.
std::set<std::int64_t> cps(const Plan& plan) {
  std::set<std::int64_t> out;
  for (const Cell& cell : plan.cells)
    if (cell.refused.empty()) out.insert(cell.problem.P);
  return out;
}

void require_cells(const Plan& plan) {
  if (plan.n_runnable == 0) refuse(plan.spec, "no cell of this spec can run: {}", plan.cells.front().refused);
}

/// Options that become words of the script: what they may hold is what needs no quotes anywhere.
void check_word(const Spec& spec, std::string_view option, std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:@+-";
  if (word.find_first_not_of(kPlain) != std::string_view::npos || word.starts_with('-'))
    refuse(spec, "{} '{}': letters, digits and _.,:@+- only, and no - in front", option, core::one_line(word));
}

void check_line(const Spec& spec, std::string_view option, std::string_view line) {
  const bool control = std::ranges::any_of(line, [](char c) { return (c >= 0 && c < 32) || c == 127; });
  if (line.empty() || control)
    refuse(spec, "{} '{}': it must be one line without control characters, and not empty", option,
           core::one_line(line));
}

void check_words(const Spec& spec, const SlurmRequest& request) {
  check_line(spec, "--program", request.program);
  check_line(spec, "--result", request.result);
  check_word(spec, "--partition", request.partition);
  check_word(spec, "--account", request.account);
  check_word(spec, "--mpi", request.mpi);
  if (request.mpi.empty()) refuse(spec, "--mpi is empty: `srun --mpi=list` shows what there is");
  if (request.program.starts_with('-'))
    refuse(spec, "--program '{}': it is no option", core::one_line(request.program));
  if (!std::isfinite(request.gflops)) refuse(spec, "--gflops {}: it must be a number", request.gflops);
  for (const auto& line : request.setup) check_line(spec, "--setup", line);
  for (const auto& line : request.directives) {
    check_line(spec, "--sbatch", line);
    if (!line.starts_with('-'))
      refuse(spec, "--sbatch '{}': it must be an option of sbatch, as --constraint=h200", line);
    if (line.find(' ') != std::string::npos && line.find_first_of("'\"") == std::string::npos)
      refuse(spec, "--sbatch '{}': sbatch ends a word at a blank: quote the value, as --comment=\"two words\"", line);
    for (const std::string_view never : {"--array", "--wrap"})
      if (line.starts_with(never))
        refuse(spec, "--sbatch '{}': {} would have several jobs write one result: a script for each, with its --result",
               line, never);
  }
}

/// Processes, from the plan that refuses none for their number.
std::int64_t processes(const Plan& plan, std::int64_t wanted) {
  if (wanted > 0) return wanted;
  const auto all = cps(plan);
  const std::int64_t most = *all.rbegin();
  for (const std::int64_t cp : all)
    if (most % cp != 0) {
      std::int64_t common = 1;
      for (const std::int64_t each : all) common = std::lcm(common, each);
      refuse(plan.spec,
             "cells of cp {}: groups of {} ranks do not fill a job of {}: make a spec for each, or ask for --ranks {} "
             "(all "
             "cells, in several groups side by side) or --ranks {} (the others are refused)",
             fmt::join(all, ", "), cp, most, common, most);
    }
  return most;
}

void lay_out_threads(SlurmJob& job, const SlurmRequest& request) {
  const Spec& spec = job.plan.spec;
  const std::string why = spec.backend.solo ? "solo: true"
                          : spec.backend.share_device
                              ? "share_device: true"
                              : fmt::format("communicator: {}", name(spec.backend.communicator));
  if (request.ranks > 0 || request.nodes > 1)
    refuse(spec, "with '{}' ranks are threads of one process on one node: {} says nothing here", why,
           request.ranks > 0 ? "--ranks" : "--nodes");
  job.threads = true;
  job.ranks = *cps(job.plan).rbegin();
}

void lay_out_processes(SlurmJob& job, const PlanOptions& options, const SlurmRequest& request) {
  const Spec& spec = job.plan.spec;
  job.ranks = job.tasks = processes(job.plan, request.ranks);
  job.nodes = request.nodes;
  if (job.ranks % job.nodes != 0)
    refuse(spec, "{} ranks on {} nodes: the number of nodes must divide that of ranks (--nodes, --ranks)", job.ranks,
           job.nodes);
  PlanOptions for_world = options;
  for_world.world = job.ranks;
  job.plan = plan(Spec(spec), for_world);
  require_cells(job.plan);
}

void lay_out_gpus(SlurmJob& job, const SlurmRequest& request) {
  const Spec& spec = job.plan.spec;
  if (spec.backend.device == DeviceKind::host) {
    if (request.gpus_per_node > 0) refuse(spec, "--gpus-per-node is about GPUs: the spec has 'device: host'");
    return;
  }
  if (job.nodes > 1)
    refuse(spec, "--nodes {}: GPUs reach each other's memory within one node only in this version: ask for one node",
           job.nodes);
  const std::int64_t needed = spec.backend.share_device ? 1 : job.ranks;
  job.gpus_per_node = request.gpus_per_node > 0 ? request.gpus_per_node : needed;
  if (job.gpus_per_node < needed)
    refuse(spec, "--gpus-per-node {}: {} ranks have a GPU each: ask for {} or more, or for fewer ranks",
           job.gpus_per_node, needed, needed);
}

/// Groups of one cell that work at the same time.
std::int64_t groups(const SlurmJob& job, const Cell& cell) { return job.threads ? 1 : job.ranks / cell.problem.P; }

void estimate(SlurmJob& job, const SlurmRequest& request) {
  const Spec& spec = job.plan.spec;
  const double gpus = spec.backend.share_device ? 1 : static_cast<double>(job.ranks);
  const double rate = spec.backend.device == DeviceKind::host ? kHostGflops : kGpuGflops * gpus;
  job.gflops = request.gflops > 0 ? request.gflops : rate;
  double seconds = kStartSeconds;
  for (const Cell& cell : job.plan.cells) {
    if (!cell.refused.empty()) continue;
    const double timed = spec.backend.solo ? 1 / static_cast<double>(cell.problem.P) : 1;
    const double gemms = cell.flop * timed * static_cast<double>(groups(job, cell)) / (job.gflops * 1e9);
    job.gemm_s += gemms;
    if (gemms > spec.measure.cell_timeout_s) ++job.n_too_long;
    seconds += std::min(kChecksSeconds + kSlower * gemms, spec.measure.cell_timeout_s);
  }
  job.limit_s = std::ceil((seconds + static_cast<double>(request.grace_s)) / kMinute) * kMinute;
  job.time = slurm_time(std::llround(job.limit_s));
}

void take_time(SlurmJob& job, const SlurmRequest& request) {
  const Spec& spec = job.plan.spec;
  const auto seconds = slurm_seconds(request.time);
  if (!seconds)
    refuse(spec, "--time '{}': write minutes, HOURS:MINUTES:SECONDS or DAYS-HOURS:MINUTES:SECONDS, as sbatch takes it",
           core::one_line(request.time));
  if (*seconds <= request.grace_s)
    refuse(spec,
           "--time {} is {} s, and the program is asked to stop {} s before the end: nothing would be measured "
           "(--time, --grace)",
           request.time, *seconds, request.grace_s);
  job.time = request.time;
  job.limit_s = static_cast<double>(*seconds);
}

}  // namespace

std::optional<std::int64_t> slurm_seconds(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto rest = numbers(dash == std::string_view::npos ? text : text.substr(dash + 1));
  if (!rest || rest->size() > 3) return std::nullopt;
  if (dash == std::string_view::npos) {
    if (rest->size() == 1) return rest->at(0) * 60;
    std::int64_t seconds = 0;
    for (const std::int64_t part : *rest) seconds = seconds * 60 + part;
    return seconds;
  }
  const auto days = numbers(text.substr(0, dash));
  if (!days || days->size() != 1) return std::nullopt;
  std::int64_t seconds = days->at(0) * 86400, unit = 3600;
  for (const std::int64_t part : *rest) {
    seconds += part * unit;
    unit /= 60;
  }
  return seconds;
}

SlurmJob slurm_job(const Spec& spec, const PlanOptions& options, const SlurmRequest& request) {
  check_words(spec, request);
  SlurmJob job;
  PlanOptions unlimited = options;
  unlimited.world = 0;
  job.plan = plan(spec, unlimited);
  require_cells(job.plan);
  const auto communicator = spec.backend.communicator;
  const bool threads = communicator == CommunicatorChoice::threads || communicator == CommunicatorChoice::self;
  if (threads || spec.backend.share_device)
    lay_out_threads(job, request);
  else
    lay_out_processes(job, options, request);
  lay_out_gpus(job, request);
  estimate(job, request);
  if (!request.time.empty()) take_time(job, request);
  return job;
}

std::vector<std::string> slurm_notes(const SlurmJob& job) {
  std::vector<std::string> notes;
  if (job.plan.n_refused > 0)
    notes.push_back(fmt::format(
        "{} of {} cells are refused (`megaup plan SPEC{}` says why): the job measures the others and ends with status "
        "3",
        job.plan.n_refused, job.plan.cells.size(), job.threads ? "" : fmt::format(" --world {}", job.ranks)));
  if (job.n_too_long > 0)
    notes.push_back(
        fmt::format("at {} GFLOP/s (--gflops) the GEMMs of {} cells take longer than cell_timeout: they would fail",
                    job.gflops, job.n_too_long));
  std::string side_by_side, across;
  for (const std::int64_t cp : cps(job.plan)) {
    if (!job.threads && cp < job.ranks)
      side_by_side += fmt::format("{}{} groups of cp {}", side_by_side.empty() ? "" : ", ", job.ranks / cp, cp);
    if (job.tasks_per_node() % cp != 0 && !job.threads) across += fmt::format("{}{}", across.empty() ? "" : ", ", cp);
  }
  if (!side_by_side.empty())
    notes.push_back(fmt::format(
        "{} work side by side, and the slowest counts: for the time of one group alone make a spec with that cp only",
        side_by_side));
  if (!across.empty())
    notes.push_back(
        fmt::format("groups of cp {} have ranks on several nodes ({} a node): arms that write into a peer's memory, as "
                    "fused, fail there by name",
                    across, job.tasks_per_node()));
  return notes;
}

}  // namespace megaup::experiments
