#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <megaup/analysis/assumptions.hpp>
#include <megaup/analysis/filter.hpp>
#include <megaup/analysis/row.hpp>

/// From result files to rows and notes. Needs nothing but core.
namespace megaup::analysis {

struct Question {
  std::vector<std::filesystem::path> files;
  Filter filter;
  Assumptions assumptions;
  bool keep_going = false;  ///< go on after a file that cannot be used
  Depth depth = Depth::rows;
};

/// One file that was read.
struct Input {
  std::string path, source, fabric;
  std::string created, megaup_version, git;
  std::string host, device, communicator;  ///< of its environment; empty = not stored
  std::map<std::string, std::string> environment;
  std::string spec_sha256;  ///< of the spec as resolved
};

struct Analysis {
  std::vector<Input> files;
  std::vector<Row> rows;                ///< wanted ones, by model, CP, tokens per rank, baseline, then file and cell
  std::vector<std::string> bad_files;   ///< with keep_going: one line for each file that could not be used
  std::vector<std::string> duplicates;  ///< the same configuration in two files: kept apart, both places named
  Assumptions assumptions;
};

/// Reads the files one cell at a time and answers. Rows are never paired or summed across cells or files. Throws
/// Error{usage}: no file; a file twice; a file that cannot be read; the same configuration twice in one file (both
/// cells named); a filter that leaves nothing. With keep_going the two about one file's content go to bad_files
/// instead.
Analysis analyze(const Question& question);

/// What must be read with the numbers, in this order: what Delta is and is not, the labels, the assumptions, then each
/// row's warnings with its place, and duplicates.
std::vector<std::string> notes(const Analysis& analysis);

/// 0: every row has a Delta. 3: some row has none, there is no row, or a file was skipped.
int exit_status(const Analysis& analysis);

}  // namespace megaup::analysis
