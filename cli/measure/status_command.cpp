#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <megaup/cli/arguments.hpp>
#include <megaup/cli/command.hpp>
#include <megaup/cli/measure/measuring.hpp>
#include <megaup/core/version.hpp>

namespace megaup::cli {
namespace {

/// From the finished output.
int status_of_file(const std::filesystem::path& output) {
  const auto record = core::read_record(output);
  std::map<std::string, std::int64_t> counts;
  for (const auto& cell : record.cells) ++counts[cell.status];
  fmt::print("{}: written {}\n", output.string(), record.created);
  for (const auto& [status, count] : counts) fmt::print("  {:<12}{}\n", status, count);
  return counts["measured"] + counts["refused"] == static_cast<std::int64_t>(record.cells.size()) ? 0 : core::exit_status(core::ErrorKind::stopped);
}

/// From the folder of finished cells, while a run is going on or after it was killed.
int status_of_folder(const experiments::CellStore& store, const std::string& yaml) {
  const KnownTables known;
  const auto plan = experiments::plan(experiments::parse_spec(yaml, store.spec_name(), known.names()), {.version = core::version()});
  std::int64_t measured = 0, failed = 0;
  for (const auto& cell : plan.cells) {
    const auto stored = store.get(cell.id);
    if (!stored) continue;
    const bool good = stored->cells[0].status == "measured";
    (good ? measured : failed) += 1;
    if (!good) fmt::print("  failed      {}: {}\n", cell.id, stored->cells[0].reason);
  }
  const auto holder = store.holder();
  fmt::print("{}: {}\n", store.output().string(), holder ? fmt::format("being measured by {}", *holder) : "not being measured now");
  fmt::print("  measured    {} of {}\n  failed      {}\n  refused     {}\n", measured, plan.n_runnable, failed, plan.n_refused);
  if (const auto current = store.current(); current && holder) fmt::print("  in hand     {}\n", *current);
  if (holder) return 0;
  fmt::print("  `megaup resume {}` goes on\n", store.output().string());
  return core::exit_status(core::ErrorKind::stopped);
}

int run(int argc, char** argv) {
  CLI::App app{"How far a run is, from another shell or after it ended. Exit status 0: complete, or going on; 5: resumable."};
  std::filesystem::path output;
  app.add_option("OUT.h5", output, "the output that the run was started with")->required();
  if (const auto status = parse_arguments(app, argc, argv)) return *status;
  const experiments::CellStore store(output);
  if (const auto yaml = store.spec_yaml()) return status_of_folder(store, *yaml);
  if (std::filesystem::exists(output)) return status_of_file(output);
  throw core::Error(core::ErrorKind::usage, fmt::format("{}: no such file, and no run beside it ({})", output.string(), store.folder().string()));
}

}  // namespace

extern const Command status_command;
const Command status_command{"status", "how far a run is, from another shell", run};

}  // namespace megaup::cli
