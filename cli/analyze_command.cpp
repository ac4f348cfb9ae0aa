#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <megaup/analysis/analysis.hpp>
#include <megaup/analysis/print.hpp>
#include <megaup/analysis/text.hpp>
#include <megaup/cli/arguments.hpp>
#include <megaup/cli/command.hpp>
#include <megaup/cli/terminal.hpp>

namespace megaup::cli {
namespace {

/// The words of the command line, before they are read as numbers (locale-free, unlike CLI11's own conversion).
struct Words {
  std::vector<std::string> files, filters;
  std::string format = "table";
  std::string h, step, unchanged;
  std::optional<bool> operations;
  bool keep_going = false;
};

std::optional<int> read_words(int argc, char** argv, Words& words) {
  CLI::App app{"Delta, the budget for h, and the operations behind them, from result files."};
  app.add_option("FILE", words.files, "result files (HDF5); rows of different files are never paired")->required();
  app.add_option("--format", words.format, "table, markdown, csv or json")
      ->check(CLI::IsMember({"table", "markdown", "csv", "json"}));
  app.add_option(
      "--h", words.h,
      "integration overhead h, in ms or with a unit (\"0.10 ms\", 100us): prints Delta - h and who benefits");
  app.add_option("--step-ms", words.step, "a measured step that holds the baseline's operations: prints percent of it");
  app.add_option("--unchanged-ms", words.unchanged,
                 "assumed time of the rest of a step: prints percent of operations + rest");
  app.add_option("--filter", words.filters,
                 "key=value,...: rows to keep; values of one key are alternatives (model, cp, tokens_per_rank, status, "
                 "baseline, candidate, source, "
                 "fabric, cell, file)")
      ->take_all()
      ->allow_extra_args(false);
  bool operations = false;
  const auto* const asked =
      app.add_flag("--operations,!--no-operations", operations, "the table of operations (default: up to 8 rows)");
  app.add_flag("--keep-going", words.keep_going,
               "skip files that cannot be used, name them on stderr, and end with status 3");
  app.footer(
      "Exit status: 0 every row has a Delta; 3 some have none, or a file was skipped; 2 usage, or a file that cannot "
      "be used.");
  const auto status = parse_arguments(app, argc, argv);
  if (asked->count() > 0) words.operations = operations;
  return status;
}

std::optional<double> milliseconds(const char* option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  return analysis::parse_milliseconds(option, text);
}

analysis::Question question_of(const Words& words) {
  analysis::Question question;
  question.files.assign(words.files.begin(), words.files.end());
  question.filter = analysis::Filter(words.filters);
  question.assumptions = {.h_ms = milliseconds("--h", words.h),
                          .step_ms = milliseconds("--step-ms", words.step),
                          .unchanged_ms = milliseconds("--unchanged-ms", words.unchanged)};
  question.keep_going = words.keep_going;
  if (words.format == "json") question.depth = analysis::Depth::ranks;
  return question;
}

std::string printed(const analysis::Analysis& answer, const Words& words) {
  const analysis::Layout layout{output_width(), words.operations.value_or(answer.rows.size() <= analysis::kFewRows)};
  if (words.format == "json") return analysis::print_json(answer);
  if (words.format == "csv") return analysis::print_csv(answer);
  if (words.format == "markdown") return analysis::print_markdown(answer, layout);
  return analysis::print_table(answer, layout);
}

/// Skipped files and rows without a Delta are named on stderr, so that they are seen when stdout goes to a file.
void report_gaps(const analysis::Analysis& answer) {
  for (const std::string& file : answer.bad_files) fmt::print(stderr, "skipped: {}\n", analysis::printable(file));
  for (const analysis::Row& row : answer.rows)
    if (!row.delta)
      fmt::print(stderr, "no Delta: {}: {}: {}\n", analysis::printable(analysis::place(row)), row.status,
                 analysis::printable(row.reason));
  if (answer.rows.empty()) fmt::print(stderr, "no Delta: there are no cells\n");
}

int run(int argc, char** argv) {
  Words words;
  if (const auto status = read_words(argc, argv, words)) return *status;
  const analysis::Analysis answer = analysis::analyze(question_of(words));
  fmt::print("{}", printed(answer, words));
  if (words.format == "csv")
    for (const std::string& note : analysis::notes(answer)) fmt::print(stderr, "note: {}\n", analysis::printable(note));
  report_gaps(answer);
  return analysis::exit_status(answer);
}

}  // namespace

extern const Command analyze_command;
const Command analyze_command{"analyze", "print Delta, the budget for h and the operations of result files", run};

}  // namespace megaup::cli
