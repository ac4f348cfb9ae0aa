#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <megaup/analysis/text.hpp>
#include <megaup/cli/arguments.hpp>
#include <megaup/cli/command.hpp>
#include <megaup/core/error.hpp>
#include <megaup/core/record.hpp>

namespace megaup::cli {
namespace {

std::string_view stored(const std::string& hash) { return hash.empty() ? "not stored" : std::string_view(hash); }

/// Prints what is wrong with one file, or that nothing is; true if nothing is.
bool check_file(const std::string& file) {
  try {
    const core::Record record = core::read_record(file);
    const auto wrong = core::violations(record);
    for (const std::string& line : wrong) fmt::print("{}\n", analysis::printable(fmt::format("{}: {}", file, line)));
    fmt::print("{}\n", analysis::printable(fmt::format(
                           "{}: {} cells, {}; spec sha256 {}, resolved sha256 {}", file, record.cells.size(),
                           wrong.empty() ? "sound" : fmt::format("{} violations", wrong.size()),
                           stored(record.spec_sha256_yaml), stored(record.spec_sha256_resolved))));
    return wrong.empty();
  } catch (const core::Error& error) {
    fmt::print("{}\n", analysis::printable(error.what()));
    return false;
  }
}

int run(int argc, char** argv) {
  CLI::App app{"Verify result files: the schema, its invariants, and the hashes of the specs. Nothing is written."};
  std::vector<std::string> files;
  app.add_option("FILE", files, "result files (HDF5)")->required();
  app.footer("Exit status: 0 all are sound; 2 otherwise.");
  if (const auto status = parse_arguments(app, argc, argv)) return *status;
  bool sound = true;
  for (const std::string& file : files) sound = check_file(file) && sound;
  return sound ? 0 : core::exit_status(core::ErrorKind::usage);
}

}  // namespace

extern const Command check_command;
const Command check_command{"check", "verify result files against the schema and its invariants", run};

}  // namespace megaup::cli
