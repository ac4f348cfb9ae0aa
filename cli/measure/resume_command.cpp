#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <megaup/cli/arguments.hpp>
#include <megaup/cli/command.hpp>
#include <megaup/cli/measure/measuring.hpp>
#include <megaup/core/record.hpp>

namespace megaup::cli {
namespace {

int resume(int argc, char** argv) {
  CLI::App app{"Go on with a run that was killed, stopped, or had failed cells. Finished cells are kept unless the spec, the program or the machine changed."};
  MeasureRequest request;
  request.resume = true;
  app.add_option("OUT.h5", request.output, "the output of the run")->required();
  if (const auto status = parse_arguments(app, argc, argv)) return *status;

  const experiments::CellStore store(request.output);
  if (const auto yaml = store.spec_yaml()) {
    request.yaml = *yaml;
    request.spec = store.spec_name();
    return measure(request);
  }
  if (!std::filesystem::exists(request.output))
    throw core::Error(core::ErrorKind::usage, fmt::format("{}: there is no such file and no unfinished run beside it ({}): start one with `megaup run SPEC -o {}`",
                                                          request.output.string(), store.folder().string(), request.output.string()));
  const auto record = core::read_record(request.output);
  for (const auto& cell : record.cells)
    if (cell.status != "measured" && cell.status != "refused")
      throw core::Error(core::ErrorKind::usage, fmt::format("{}: cell {} is {}, but the folder of finished cells ({}) is gone: run the spec again with --force",
                                                            request.output.string(), cell.id, cell.status, store.folder().string()));
  store.remove();  // what a kill between the merge and the tidying up has left
  fmt::print(stderr, "megaup: {}: all {} cells are measured, nothing to resume\n", request.output.string(), record.cells.size());
  return 0;
}

}  // namespace

extern const Command resume_command;
const Command resume_command{"resume", "go on with a run that was killed or stopped", resume};

}  // namespace megaup::cli
