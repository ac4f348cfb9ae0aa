#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <megaup/analysis/long_csv.hpp>
#include <megaup/analysis/text.hpp>
#include <megaup/cli/arguments.hpp>
#include <megaup/cli/command.hpp>
#include <megaup/cli/inputs.hpp>
#include <megaup/core/atomic_file.hpp>
#include <megaup/core/error.hpp>
#include <megaup/core/record.hpp>

namespace megaup::cli {
namespace {

struct Words {
  std::vector<std::string> files;
  std::string output;
  bool force = false;
};

std::optional<int> read_words(int argc, char** argv, Words& words) {
  CLI::App app{
      "Every stored time as one line of CSV: file, cell, operation, arm, block, order, observation, rank, seconds."};
  app.add_option("FILE", words.files, "result files (HDF5)")->required();
  app.add_option("-o,--output", words.output, "the CSV file (default: standard output)");
  app.add_flag("--force", words.force, "write over a file that exists");
  app.footer(
      "Exit status: 0 every cell's times are there; 3 some cells have none (named on stderr); 2 usage, or a file that "
      "cannot be used.");
  return parse_arguments(app, argc, argv);
}

int run(int argc, char** argv) {
  Words words;
  if (const auto status = read_words(argc, argv, words)) return *status;
  protect_inputs({words.files.begin(), words.files.end()}, words.output);
  std::string held;  // a file appears whole or not at all; standard output is written as it comes
  const auto write = [&](std::string_view text) {
    if (words.output.empty())
      std::fwrite(text.data(), 1, text.size(), stdout);
    else
      held += text;
  };
  bool gaps = false;
  write(analysis::long_csv_titles());
  for (const std::string& file : words.files)
    core::for_each_cell(file, {.started = false, .errors = false},
                        [&](const core::Record& header, core::CellRecord& cell) {
                          if (const auto reason = analysis::long_csv_cell(header, cell, write)) {
                            gaps = true;
                            fmt::print(stderr, "left out: {} cells/{}: {}\n", analysis::printable(file),
                                       analysis::printable(cell.id), analysis::printable(*reason));
                          }
                        });
  if (!words.output.empty()) core::write_file(words.output, held, words.force);
  return gaps ? core::exit_status(core::ErrorKind::cell) : 0;
}

}  // namespace

extern const Command export_command;
const Command export_command{"export", "print every stored time as long-form CSV", run};

}  // namespace megaup::cli
