#include <CLI/CLI.hpp>

#include <megaup/cli/arguments.hpp>
#include <megaup/cli/command.hpp>
#include <megaup/cli/measure/measuring.hpp>

namespace megaup::cli {
namespace {

int run(int argc, char** argv) {
  CLI::App app{"Validate, measure, write, print. Under mpirun or srun the launcher's ranks measure; alone, ranks are threads of this process."};
  MeasureRequest request;
  app.add_option("SPEC", request.spec, "a spec file, or the name of a shipped one (quickstart, reference-56, ...)")->required();
  app.add_option("-o,--output", request.output, "the HDF5 file to write")->required();
  app.add_flag("--force", request.overwrite, "replace an existing output, and discard an unfinished run of it");
  if (const auto status = parse_arguments(app, argc, argv)) return *status;
  return measure(request);
}

}  // namespace

extern const Command run_command;
const Command run_command{"run", "measure the cells of a spec and write them to an HDF5 file", run};

}  // namespace megaup::cli
