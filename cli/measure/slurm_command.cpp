#include <filesystem>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <megaup/cli/arguments.hpp>
#include <megaup/cli/command.hpp>
#include <megaup/cli/inputs.hpp>
#include <megaup/cli/measure/measuring.hpp>
#include <megaup/comm/backend.hpp>
#include <megaup/core/atomic_file.hpp>
#include <megaup/core/text.hpp>
#include <megaup/core/version.hpp>
#include <megaup/experiments/cell_store.hpp>
#include <megaup/experiments/slurm_job.hpp>

namespace megaup::cli {
namespace {

namespace fs = std::filesystem;

struct Words {
  std::string spec;
  fs::path output, result;
  bool force = false;
  experiments::SlurmRequest request;
};

void add_resources(CLI::App& app, experiments::SlurmRequest& request) {
  const auto many = CLI::Range(std::int64_t{1}, std::int64_t{1'000'000});
  app.add_option("--time", request.time,
                 "time limit in Slurm's words (90, 1:30:00, 1-12:00:00); default: from the plan's estimate");
  app.add_option("--gflops", request.gflops,
                 "rate of all ranks together, for that estimate; default 100, with device: cuda 500000 for each GPU")
      ->check(CLI::Range(1e-3, 1e12));
  app.add_option("--ranks", request.ranks, "processes; default: the largest cp of the spec")->check(many);
  app.add_option("--nodes", request.nodes, "nodes; default 1")->check(many);
  app.add_option("--gpus-per-node", request.gpus_per_node, "GPUs; default: one a rank with device: cuda")->check(many);
  app.add_option("--cpus-per-rank", request.cpus_per_rank,
                 "CPUs, as Slurm counts them, that each rank is bound to; default: all ranks share the node")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000}));
  app.add_option("--grace", request.grace_s,
                 "seconds before the end of the time at which the program is asked to stop; default 60")
      ->check(CLI::Range(std::int64_t{10}, std::int64_t{65'535}));
}

std::optional<int> read_words(int argc, char** argv, Words& words) {
  CLI::App app{
      "Print the batch script that measures a spec under Slurm (docs/slurm.md). Nothing is submitted. The script holds "
      "the spec itself; "
      "submitted again it goes on where an earlier job was stopped."};
  auto& request = words.request;
  app.add_option("SPEC", words.spec, "a spec file, or the name of a shipped one (quickstart, reference-56, ...)")
      ->required();
  app.add_option("-o,--output", words.output, "the script; default: stdout");
  app.add_flag("--force", words.force, "write over a script that exists");
  app.add_option("--result", words.result, "the HDF5 file that the job writes; default: NAME.h5 in this folder");
  app.add_option("--partition", request.partition, "Slurm's partition");
  app.add_option("--account", request.account, "the account that pays");
  add_resources(app, request);
  app.add_option("--mpi", request.mpi, "srun's --mpi: how ranks find each other; default pmix");
  app.add_option("--program", request.program,
                 "the megaup that the job starts: a path, or a name on its PATH; default: this one");
  app.add_option("--sbatch", request.directives,
                 "a further option of sbatch, as --sbatch=--constraint=h200; may be repeated, and the last one counts")
      ->take_all()
      ->expected(1);
  app.add_option("--setup", request.setup,
                 "a shell line that the job begins with, as 'module load cuda'; may be repeated")
      ->take_all()
      ->expected(1);
  return parse_arguments(app, argc, argv);
}

void choose_program(const experiments::Spec& spec, experiments::SlurmRequest& request) {
  if (request.program.empty()) {
    request.program = fs::read_symlink("/proc/self/exe").string();
    using enum experiments::CommunicatorChoice;
    const auto communicator = spec.backend.communicator;
    if (communicator != automatic && communicator != mpi) return;
    if (spec.backend.share_device) return;
    for (const auto& absent : comm::absent_backends())
      if (absent.name == "mpi")
        throw core::Error(
            core::ErrorKind::usage,
            fmt::format(
                "{}: ranks of srun need MPI, and this program has none ({}): name another one with --program, or "
                "have ranks as threads with backend: {{communicator: threads}}",
                spec.file, absent.reason));
  } else if (request.program.find('/') != std::string::npos) {
    request.program = fs::absolute(request.program).lexically_normal().string();
  }
}

/// The result's absolute path. What would make the job fail at once is said now, not after hours in a queue.
void choose_result(const experiments::Spec& spec, Words& words) {
  if (words.result.empty()) words.result = spec.name + ".h5";
  words.result = fs::absolute(words.result).lexically_normal();
  if (words.result.filename().empty())
    throw core::Error(core::ErrorKind::usage, fmt::format("--result {}: it names a folder, and must name an HDF5 file",
                                                          core::one_line(words.result.string())));
  words.request.result = words.result.string();
  const experiments::CellStore store(words.result);
  if (fs::exists(words.result) && !store.exists())
    throw core::Error(
        core::ErrorKind::usage,
        fmt::format(
            "{}: it exists, and the job would not write over it: move it away, or name another one with --result",
            core::one_line(words.request.result)));
  if (!fs::is_directory(words.result.parent_path()))
    fmt::print(stderr, "megaup: note: there is no folder {} here: the job's nodes must have it\n",
               core::one_line(words.result.parent_path().string()));
}

/// --force replaces an old script, and nothing else.
void choose_output(const Words& words) {
  if (words.output.empty()) return;
  const bool is_spec = same_file(words.spec, words.output);
  if (!is_spec && fs::absolute(words.output).lexically_normal() != words.result) return;
  throw core::Error(core::ErrorKind::usage,
                    fmt::format("-o {}: it is {}: another name for the script", core::one_line(words.output.string()),
                                is_spec ? "the spec itself" : "the result of the job too"));
}

int run(int argc, char** argv) {
  Words words;
  if (const auto status = read_words(argc, argv, words)) return *status;
  const KnownTables known;
  const auto spec = experiments::load_spec(words.spec, known.names());
  choose_program(spec, words.request);
  choose_result(spec, words);
  choose_output(words);
  const auto job = experiments::slurm_job(spec, {.version = core::version()}, words.request);
  const auto script = experiments::slurm_script(job, words.request);
  for (const auto& note : experiments::slurm_notes(job)) fmt::print(stderr, "megaup: note: {}\n", note);
  if (words.output.empty()) {
    fmt::print("{}", script);
    return 0;
  }
  core::write_file(words.output, script, words.force);
  fmt::print(stderr, "megaup: wrote {}: sbatch it; it writes {}\n", words.output.string(), words.request.result);
  return 0;
}

}  // namespace

extern const Command slurm_command;
const Command slurm_command{"slurm", "print the batch script that measures a spec under Slurm", run};

}  // namespace megaup::cli
