#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/core/text.hpp>
#include <megaup/core/version.hpp>
#include <megaup/experiments/embedded.hpp>
#include <megaup/experiments/slurm_job.hpp>

namespace megaup::experiments {
namespace {

/// One word for the shell, whatever is in it.
std::string quoted(std::string_view word) {
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

/// The spec's name as a part of names of jobs and logs, in which % and blanks would mean something.
std::string slug(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_';
    out += plain ? c : '_';
  }
  return out;
}

/// A line that is not in the text.
std::string delimiter(std::string_view text) {
  std::string word = "END_OF_SPEC";
  while (text.find(word) != std::string_view::npos) word += '_';
  return word;
}

std::string ranks_text(const SlurmJob& job) {
  const bool gpus = job.gpus_per_node > 0;
  if (job.threads)
    return fmt::format("up to {} rank{}, threads of one process{}", job.ranks, job.ranks == 1 ? "" : "s",
                       !gpus                                ? ""
                       : job.plan.spec.backend.share_device ? ", on one GPU"
                                                            : ", with a GPU each");
  return fmt::format("{} rank{}, a process each{}, on {} node{}", job.ranks, job.ranks == 1 ? "" : "s",
                     gpus ? " with a GPU of its own" : "", job.nodes, job.nodes == 1 ? "" : "s");
}

std::string duration(double seconds) {
  if (seconds < 1) return "less than 1 s";
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  return seconds < 7200 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

/// Why the job's time is what it is.
std::string time_text(const SlurmJob& job, const SlurmRequest& request) {
  if (!request.time.empty()) return "as asked for";
  return fmt::format(
      "5 min, for each cell 30 s and three times its GEMMs, or its cell_timeout ({}) if that is less, and the grace; "
      "all GEMMs\n"
      "#           take {} at {:.0f} GFLOP/s (--gflops). What is not done by then a second submission does",
      duration(job.plan.spec.measure.cell_timeout_s), duration(job.gemm_s), job.gflops);
}

std::string head(const SlurmJob& job, const SlurmRequest& request) {
  const Plan& plan = job.plan;
  double most = 0;
  for (const Cell& cell : plan.cells) most = std::max(most, static_cast<double>(cell.bytes_per_rank));
  std::string out = fmt::format(
      "#!/bin/bash\n"
      "# Measures {} under Slurm: {}. Made by megaup {} ({}) from {}.\n"
      "# sbatch starts it. Submitted again it goes on where an earlier job was stopped, was killed or had failed "
      "cells; on other\n"
      "# nodes than before it measures all again (sbatch --nodelist). `megaup status RESULT` says from any shell how "
      "far it is.\n"
      "#   cells   {} to run, {} refused; at most {:.0f} MiB of memory a rank\n"
      "#   time    {}\n",
      core::one_line(plan.spec.name), ranks_text(job), core::version(), core::git_commit(),
      core::one_line(plan.spec.file), plan.n_runnable, plan.n_refused, most / (1 << 20), time_text(job, request));
  for (const auto& note : slurm_notes(job)) out += fmt::format("#   note    {}\n", note);
  return out;
}

std::string directives(const SlurmJob& job, const SlurmRequest& request) {
  const std::string name = "megaup-" + slug(job.plan.spec.name);
  std::vector<std::string> lines{
      "--job-name=" + name,
      "--output=" + name + "-%j.out",
      "--open-mode=append",
      fmt::format("--nodes={}", job.nodes),
      fmt::format("--ntasks={}", job.tasks),
      fmt::format("--ntasks-per-node={}", job.tasks_per_node()),
  };
  if (request.cpus_per_rank > 0)
    lines.push_back(fmt::format("--cpus-per-task={}", request.cpus_per_rank * (job.threads ? job.ranks : 1)));
  if (job.gpus_per_node > 0) lines.push_back(fmt::format("--gpus-per-node={}", job.gpus_per_node));
  if (!request.partition.empty()) lines.push_back("--partition=" + request.partition);
  if (!request.account.empty()) lines.push_back("--account=" + request.account);
  lines.push_back("--time=" + job.time);
  std::string out;
  for (const auto& line : lines) out += "#SBATCH " + line + "\n";
  out += fmt::format(
      "# A neighbour on the node would share memory bandwidth, links and power with what is timed.\n"
      "#SBATCH --exclusive\n"
      "#SBATCH --mem=0\n"
      "# SIGTERM to the ranks before the time is over: they write what is finished and end with status 5.\n"
      "#SBATCH --signal=TERM@{}\n"
      "# After a node failed or the job was preempted Slurm may start it again: it goes on.\n"
      "#SBATCH --requeue\n",
      request.grace_s);
  for (const auto& line : request.directives) out += "#SBATCH " + line + "\n";
  return out + std::string(embedded_batch().front().bytes);
}

std::string setup(const SlurmRequest& request) {
  if (request.setup.empty()) return {};
  std::string out =
      "\nset +eu # set-up scripts, as those of modules, read variables that nobody has set and go on after errors\n";
  for (const auto& line : request.setup) out += line + "\n";
  return out + "set -eu\n";
}

std::string launcher(const SlurmJob& job, const SlurmRequest& request) {
  std::vector<std::string> words{"srun",
                                 "--mpi=" + (job.threads ? std::string("none") : request.mpi),
                                 "--kill-on-bad-exit=1",
                                 "--export=ALL",
                                 fmt::format("--nodes={}", job.nodes),
                                 fmt::format("--ntasks={}", job.tasks),
                                 fmt::format("--ntasks-per-node={}", job.tasks_per_node()),
                                 "--distribution=block"};
  std::string out = "\n";
  if (!job.threads)
    out +=
        "# A rank that dies must end the job: the others would wait for it until the time is over. Groups are "
        "consecutive ranks: block.\n";
  if (request.cpus_per_rank > 0) {  // srun does not take it from sbatch since Slurm 22.05
    words.push_back(fmt::format("--cpus-per-task={}", request.cpus_per_rank * (job.threads ? job.ranks : 1)));
    words.push_back("--cpu-bind=cores");
  } else {
    out += "# Not bound: the program divides the cores of the node among its ranks (to bind them: --cpus-per-rank).\n";
    words.push_back("--cpu-bind=none");
  }
  if (job.gpus_per_node > 0) {
    out += "# Every rank sees all GPUs of the node and takes its own: it maps the memory of the others.\n";
    words.push_back("--gpu-bind=none");
  }
  return out + fmt::format("launch=({})\n", fmt::join(words, " "));
}

std::string embedded_spec(const Plan& plan) {
  const std::string& yaml = plan.spec.yaml;
  const auto word = delimiter(yaml);
  return fmt::format(
      "\nspec_sha256={}\n"
      "write_spec() {{ # FILE: head, because the last line of a here-document always ends\n"
      "  head -c {} >\"$1\" <<'{}'\n"
      "{}{}{}\n"
      "}}\n",
      plan.yaml_sha256, yaml.size(), word, yaml, yaml.ends_with('\n') ? "" : "\n", word);
}

}  // namespace

std::string slurm_script(const SlurmJob& job, const SlurmRequest& request) {
  return fmt::format("{}{}{}\nprogram={}\nresult={}\n{}{}{}", head(job, request), directives(job, request),
                     setup(request), quoted(request.program), quoted(request.result), launcher(job, request),
                     embedded_spec(job.plan), embedded_batch().back().bytes);
}

}  // namespace megaup::experiments
