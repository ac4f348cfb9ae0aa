#include <megaup/analysis/analysis.hpp>

#include <algorithm>
#include <future>
#include <iterator>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include <megaup/analysis/cell_rows.hpp>
#include <megaup/analysis/conclusions.hpp>
#include <megaup/core/error.hpp>
#include <megaup/core/record.hpp>

namespace megaup::analysis {
namespace {

struct Seen {
  std::size_t file;
  std::string cell;
};
using Identities = std::unordered_map<std::string, Seen>;

std::string entry(const std::map<std::string, std::string>& environment, const std::string& key) {
  const auto found = environment.find(key);
  return found == environment.end() ? std::string() : found->second;
}

Input input_of(const core::Record& header) {
  return {.path = header.path,
          .source = header.source,
          .fabric = header.fabric,
          .created = header.created,
          .megaup_version = header.megaup_version,
          .git = header.git,
          .host = entry(header.environment, "host"),
          .device = entry(header.environment, "device"),
          .communicator = entry(header.environment, "communicator"),
          .environment = header.environment,
          .spec_sha256 = header.spec_sha256_resolved};
}

/// One file's rows, complete before any of them is kept: a file that turns out to be unusable leaves nothing behind.
struct FileRows {
  Input input;
  std::vector<Row> rows;
  std::unordered_map<std::string, std::string> cells;  ///< identity -> cell
};

/// Turns the cells of a file into rows, one after another.
class RowMaker {
 public:
  RowMaker(const Filter& filter, Depth depth, FileRows& result) : filter_(filter), depth_(depth), result_(result) {}

  void add(const core::Record& head, const core::CellRecord& cell) {
    for (Row& row : cell_rows(head, cell, depth_)) {
      coarsest_ = coarser(coarsest_, row);
      // A cell whose attributes could not be read has no configuration to compare.
      if (cell.fault.empty()) refuse_twin(identity(head, cell, row), cell, row);
      if (filter_.accepts(row)) result_.rows.push_back(std::move(row));
    }
  }
  void conclude_all() {
    for (Row& row : result_.rows) conclude(row, coarsest_);
  }

 private:
  void refuse_twin(std::string&& configuration, const core::CellRecord& cell, const Row& row) {
    const auto [first, added] = result_.cells.emplace(std::move(configuration), cell.id);
    if (added) return;
    throw core::Error(core::ErrorKind::usage,
                      fmt::format("{}: the same configuration twice: cells/{} and cells/{} ({}, CP {}, M {}, {} "
                                  "against {}). Neither is used; remove one, or give them different settings",
                                  row.file, first->second, cell.id, row.model, row.cp, row.tokens_per_rank,
                                  row.baseline, row.candidate));
  }

  const Filter& filter_;
  Depth depth_;
  FileRows& result_;
  /// Of all cells, also those that the filter leaves out: they were measured by the same run.
  std::optional<double> coarsest_;
};

/// Hands cells to a RowMaker in batches, on a thread beside the one that reads the file: either takes about half of the
/// time.
class Batches {
 public:
  explicit Batches(RowMaker& maker) : maker_(maker) {}

  void add(const core::Record& head, core::CellRecord&& cell) {
    if (!head_) head_ = head;
    filling_.push_back(std::move(cell));
    if (filling_.size() == kCells) hand_over();
  }
  /// Returns when all rows are made. Throws what making one threw.
  void finish() {
    if (!filling_.empty()) hand_over();
    if (made_.valid()) made_.get();
  }

 private:
  static constexpr std::size_t kCells = 128;  // some MB

  void hand_over() {
    if (made_.valid()) made_.get();
    working_.swap(filling_);
    filling_.clear();
    made_ = std::async(std::launch::async, [this] {
      for (const core::CellRecord& cell : working_) maker_.add(*head_, cell);
    });
  }

  RowMaker& maker_;
  std::optional<core::Record> head_;  // a copy: the reader's own goes when the reading ends or fails
  std::vector<core::CellRecord> filling_, working_;
  std::future<void> made_;  // last: its destructor waits for the thread that uses the others
};

FileRows read_rows(const std::filesystem::path& path, const Filter& filter, Depth depth) {
  FileRows result;
  RowMaker maker(filter, depth, result);
  Batches batches(maker);
  const core::Record header = core::for_each_cell(
      path, {.started = true, .errors = false},
      [&](const core::Record& head, core::CellRecord& cell) { batches.add(head, std::move(cell)); });
  batches.finish();
  maker.conclude_all();
  result.input = input_of(header);
  return result;
}

void keep(FileRows&& file, Analysis& analysis, Identities& seen) {
  const std::size_t number = analysis.files.size();
  for (const auto& [configuration, cell] : file.cells) {
    const auto [first, added] = seen.emplace(configuration, Seen{number, cell});
    if (!added)
      analysis.duplicates.push_back(fmt::format(
          "the same configuration in two files: {} cells/{} and {} cells/{}; the rows are kept apart, never "
          "paired or pooled",
          analysis.files[first->second.file].path, first->second.cell, file.input.path, cell));
  }
  analysis.files.push_back(std::move(file.input));
  std::move(file.rows.begin(), file.rows.end(), std::back_inserter(analysis.rows));
}

void refuse_repeated_files(const std::vector<std::filesystem::path>& files) {
  std::set<std::filesystem::path> seen;
  for (const auto& file : files)
    if (std::error_code ignored; !seen.insert(std::filesystem::weakly_canonical(file, ignored)).second)
      throw core::Error(core::ErrorKind::usage, fmt::format("{}: the same file is given twice", file.string()));
}

}  // namespace

Analysis analyze(const Question& question) {
  check(question.assumptions);
  if (question.files.empty()) throw core::Error(core::ErrorKind::usage, "no result file given");
  refuse_repeated_files(question.files);

  Analysis analysis;
  analysis.assumptions = question.assumptions;
  Identities seen;
  for (const auto& file : question.files) {
    try {
      keep(read_rows(file, question.filter, question.depth), analysis, seen);
    } catch (const core::Error& error) {
      if (!question.keep_going) throw;
      analysis.bad_files.emplace_back(error.what());
    }
  }
  std::sort(analysis.duplicates.begin(), analysis.duplicates.end());
  if (analysis.rows.empty() && !seen.empty() && !question.filter.empty())
    throw core::Error(core::ErrorKind::usage, "--filter leaves no row; leave it out to see what there is");
  const auto key = [](const Row& row) { return std::tie(row.model, row.cp, row.tokens_per_rank, row.baseline); };
  std::stable_sort(analysis.rows.begin(), analysis.rows.end(),
                   [&](const Row& a, const Row& b) { return key(a) < key(b); });
  return analysis;
}

int exit_status(const Analysis& analysis) {
  const bool whole =
      std::all_of(analysis.rows.begin(), analysis.rows.end(), [](const Row& row) { return row.delta.has_value(); });
  return whole && !analysis.rows.empty() && analysis.bad_files.empty() ? 0 : core::exit_status(core::ErrorKind::cell);
}

}  // namespace megaup::analysis
