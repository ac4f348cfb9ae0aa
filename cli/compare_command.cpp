#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <megaup/analysis/comparison.hpp>
#include <megaup/analysis/text.hpp>
#include <megaup/cli/arguments.hpp>
#include <megaup/cli/command.hpp>
#include <megaup/cli/terminal.hpp>
#include <megaup/core/error.hpp>

namespace megaup::cli {
namespace {

struct Words {
  std::string a, b, format = "table";
};

std::optional<int> read_words(int argc, char** argv, Words& words) {
  CLI::App app{"What differs between two results: first the machine, program and spec, then Delta."};
  app.add_option("A", words.a, "the earlier result file (HDF5)")->required();
  app.add_option("B", words.b, "the later result file; changes are B - A")->required();
  app.add_option("--format", words.format, "table or json")->check(CLI::IsMember({"table", "json"}));
  app.footer(
      "Exit status: 0 every row has its partner; 3 some have none, or no Delta; 2 usage, or a file that cannot be "
      "used.");
  return parse_arguments(app, argc, argv);
}

int run(int argc, char** argv) {
  Words words;
  if (const auto status = read_words(argc, argv, words)) return *status;
  analysis::Question a, b;
  a.files = {words.a};
  b.files = {words.b};
  const auto comparison = analysis::compare(analysis::analyze(a), analysis::analyze(b));
  fmt::print("{}", words.format == "json" ? analysis::print_comparison_json(comparison)
                                          : analysis::print_comparison(comparison, output_width()));
  for (const std::string& line : comparison.unpaired)
    fmt::print(stderr, "not compared: {}\n", analysis::printable(line));
  return comparison.unpaired.empty() && !comparison.changes.empty() ? 0 : core::exit_status(core::ErrorKind::cell);
}

}  // namespace

extern const Command compare_command;
const Command compare_command{"compare", "print what changed between two result files", run};

}  // namespace megaup::cli
