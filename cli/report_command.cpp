#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <megaup/analysis/analysis.hpp>
#include <megaup/analysis/report/page.hpp>
#include <megaup/analysis/text.hpp>
#include <megaup/cli/arguments.hpp>
#include <megaup/cli/command.hpp>
#include <megaup/cli/inputs.hpp>
#include <megaup/core/atomic_file.hpp>

namespace megaup::cli {
namespace {

struct Words {
  std::vector<std::string> files, filters;
  std::string output, h;
  bool keep_going = false, force = false;
};

std::optional<int> read_words(int argc, char** argv, Words& words) {
  CLI::App app{
      "One HTML page with a row for each configuration: bars of Delta, filters, h, and the observations behind each "
      "row."};
  app.add_option("FILE", words.files, "result files (HDF5); rows of different files are never paired")->required();
  app.add_option("-o,--output", words.output,
                 "the page; rows that do not fit into 5 MB go to page-2.html and so on beside it")
      ->required();
  app.add_option("--h", words.h,
                 "integration overhead h that the page starts with, in ms or with a unit (\"0.10 ms\", 100us)");
  app.add_option("--filter", words.filters, "key=value,...: rows to keep, as for analyze")->take_all();
  app.add_flag("--keep-going", words.keep_going,
               "skip files that cannot be used, name them on stderr and on the page, and end with status 3");
  app.add_flag("--force", words.force, "write over pages that exist");
  app.footer(
      "Exit status: 0 every row has a Delta; 3 some have none, or a file was skipped; 2 usage, or a file that cannot "
      "be used; 4 cannot write.");
  return parse_arguments(app, argc, argv);
}

int run(int argc, char** argv) {
  Words words;
  if (const auto status = read_words(argc, argv, words)) return *status;
  protect_inputs({words.files.begin(), words.files.end()}, words.output);
  analysis::Question question;
  question.files.assign(words.files.begin(), words.files.end());
  question.filter = analysis::Filter(words.filters);
  if (!words.h.empty()) question.assumptions.h_ms = analysis::parse_milliseconds("--h", words.h);
  question.keep_going = words.keep_going;
  question.depth = analysis::Depth::observations;

  const analysis::Analysis answer = analysis::analyze(question);
  const std::filesystem::path output(words.output);
  for (const analysis::Page& page : analysis::report_pages(answer, output.filename().string())) {
    const auto path = output.parent_path() / page.name;
    core::write_file(path, page.html, words.force);
    fmt::print("{}\n", path.string());
  }
  for (const std::string& file : answer.bad_files) fmt::print(stderr, "skipped: {}\n", analysis::printable(file));
  for (const analysis::Row& row : answer.rows)
    if (!row.delta)
      fmt::print(stderr, "no Delta: {}: {}: {}\n", analysis::printable(analysis::place(row)), row.status,
                 analysis::printable(row.reason));
  return analysis::exit_status(answer);
}

}  // namespace

extern const Command report_command;
const Command report_command{"report", "write the HTML page of result files", run};

}  // namespace megaup::cli
