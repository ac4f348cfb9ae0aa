#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <megaup/comm/backend.hpp>
#include <megaup/core/record.hpp>
#include <megaup/experiments/cell_store.hpp>
#include <megaup/experiments/plan.hpp>
#include <megaup/experiments/stopping.hpp>
#include <megaup/ops/arm.hpp>

namespace megaup::experiments {

/// Something that a person who waits wants to see. Sent on the root process only, from one thread at a time.
struct CellEvent {
  enum class Kind : std::uint8_t { begins, measured, failed, kept } kind;
  std::int64_t number, total;         ///< 1-based, among the cells that run
  const Cell* cell;
  const core::CellRecord* record;     ///< nullptr when it begins
  double seconds = 0;                 ///< since it began
  std::string why;                    ///< kept: why not measured again; begins: why measured again (resume), may be empty
};

struct RunOutcome {
  std::int64_t measured = 0, kept = 0, failed = 0, refused = 0, unfinished = 0;
  bool validation_failed = false;
  bool root = true;         ///< this process writes the file
  core::Record record;      ///< what was written; root only
};

/// Measures the cells of a plan, keeps each one as it ends, and merges them into the output.
///   fresh    run(): the output must not exist (unless overwrite), nor an unfinished run's folder
///   resumed  run() with resume: stored cells of the same cell, program and machine are kept, all others are measured, and the event says why
/// A failed cell does not stop the others. Nothing is written to the output before the end; an existing one stays until then.
class Run {
 public:
  struct Options {
    std::filesystem::path output;
    bool overwrite = false, resume = false;
    std::map<std::string, std::string> environment;
    std::function<void(const CellEvent&)> on_cell;
    /// Told on rank 0 why all ranks of a launcher's world refuse, before any of them ends: a launcher kills the others when one has ended.
    std::function<void(const core::Error&)> on_refusal;
    ops::ArmLookup find_arm = ops::arms_at(ops::Place::host);
    Stopping stopping;  ///< needed by a spec with measure.stop
  };

  Run(const Plan& plan, const comm::Backend& backend, Options options);

  /// Throws Error{usage} when the spec has measure.stop and the options no rule for it; AgreedError, told already through on_refusal, when the ranks of a launcher's world cannot begin.
  /// Blocks until the last cell has ended, or soon after `stop` was set (the outcome then has unfinished cells).
  RunOutcome run(const std::atomic<bool>& stop);

  /// From another thread, when run() does not come to an end in time: writes what is finished to the output; true if it did so, false if
  /// there is nothing to write from this process. run() can no longer write afterwards.
  bool write_unfinished();

 private:
  enum class Mode : std::uint8_t { undecided, root, follower };

  void open_output();
  void choose_cells();
  std::string why_again(const core::Record& stored, const Cell& cell) const;
  void launch_all(const std::atomic<bool>& stop);
  void launch_each(const std::atomic<bool>& stop);
  void measure_on(comm::Communicator& world, const std::vector<const Cell*>& cells, const std::atomic<bool>& stop);
  std::vector<const Cell*> shared_choice(comm::Communicator& world);
  void meet(comm::Communicator& world);
  void begin(const Cell& cell);
  void finish(const Cell& cell, core::CellRecord record);
  core::Record envelope() const;
  core::Record merge() const;
  void write();

  const Plan& plan_;
  const comm::Backend& backend_;
  Options options_;
  CellStore store_;
  std::vector<const Cell*> todo_;
  std::map<std::string, std::string> again_;  ///< id -> why it is measured again
  RunOutcome outcome_;
  std::string fabric_ = "host-memory";
  std::mutex writing_;  ///< between run() and write_unfinished()
  Mode mode_ = Mode::undecided;
  bool written_ = false, stopped_ = false;
  std::int64_t begun_ = 0;
  double began_s_ = 0;
};

}  // namespace megaup::experiments
