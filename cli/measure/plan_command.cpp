#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <megaup/cli/arguments.hpp>
#include <megaup/cli/command.hpp>
#include <megaup/cli/measure/measuring.hpp>
#include <megaup/core/version.hpp>
#include <megaup/experiments/plan.hpp>

namespace megaup::cli {
namespace {

int run(int argc, char** argv) {
  CLI::App app{
      "Show what a spec would measure: cells, refused cells and why, order, memory, time. Nothing is allocated."};
  std::string spec, format = "table";
  experiments::PlanOptions options{.version = core::version()};
  double gflops = 100;
  std::int64_t multiprocessors = 0;
  std::string architecture(name(ops::Architecture::sm_90a));
  app.add_option("SPEC", spec, "a spec file, or the name of a shipped one (quickstart, reference-56, ...)")->required();
  app.add_option("--format", format, "table or json")->check(CLI::IsMember({"table", "json"}));
  app.add_option("--world", options.world,
                 "plan for this many processes of mpirun or srun; 0: ranks are made as needed")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000}));
  app.add_option("--limit", options.cell_limit, "refuse specs with more cells")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000'000}));
  app.add_option("--gflops", gflops, "rate of the whole machine, from which the time is estimated")
      ->check(CLI::Range(1e-3, 1e9));
  auto* const kernels = app.add_option(
      "--kernels", multiprocessors,
      "device: cuda: also print what the planner of the fused kernels looked at and chose, for ranks with this "
      "many multiprocessors (a whole H200 has 132)");
  kernels->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000}));
  app.add_option("--architecture", architecture, "with --kernels: what these multiprocessors are, sm_90a or sm_100a")
      ->check(CLI::IsMember({"sm_90a", "sm_100a"}))
      ->needs(kernels);
  if (const auto status = parse_arguments(app, argc, argv)) return *status;

  const KnownTables known;
  const auto loaded = experiments::load_spec(spec, known.names());
  if (multiprocessors > 0 && loaded.backend.device != experiments::DeviceKind::cuda)
    throw core::Error(core::ErrorKind::usage,
                      fmt::format("--kernels is about GPUs: {} has 'device: host'", loaded.file));
  if (multiprocessors > 0 && format == "json")
    throw core::Error(core::ErrorKind::usage,
                      "--kernels prints tables for people: it cannot stand beside --format json");
  options.device_bytes = device_bytes(loaded);
  const auto plan = experiments::plan(loaded, options);
  fmt::print("{}", format == "json" ? experiments::plan_json(plan, gflops) : experiments::plan_table(plan, gflops));
  if (multiprocessors > 0)
    fmt::print("{}", experiments::kernel_tables(plan, multiprocessors, *ops::architecture_named(architecture)));
  if (plan.n_runnable > 0) return 0;
  fmt::print(stderr, "megaup: {}: no cell of this spec can run: {}\n", plan.spec.file, plan.cells.front().refused);
  return core::exit_status(core::ErrorKind::usage);
}

}  // namespace

extern const Command plan_command;
const Command plan_command{"plan", "show the cells of a spec, memory and time, without running anything", run};

}  // namespace megaup::cli
