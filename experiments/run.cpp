#include <megaup/experiments/run.hpp>

#include <algorithm>
#include <chrono>
#include <exception>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/core/output_probe.hpp>
#include <megaup/core/text.hpp>
#include <megaup/core/version.hpp>
#include <megaup/experiments/agreement.hpp>
#include <megaup/experiments/devices.hpp>
#include <megaup/experiments/measure.hpp>
#include <megaup/ops/kokkos_session.hpp>

namespace megaup::experiments {
namespace {

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Upper estimate of the output: latencies, started times, and what HDF5 and the attributes add to each cell.
std::uint64_t expected_bytes(const Plan& plan) {
  constexpr std::uint64_t kPerCell = 32 * 1024;
  std::uint64_t bytes = plan.spec.yaml.size() + plan.resolved.size();
  const auto blocks = plan.spec.operations.size() * plan.spec.arms.all().size() * block_kinds(plan.spec).size();
  for (const auto& cell : plan.cells)
    bytes += kPerCell + 8 * blocks * static_cast<std::uint64_t>(plan.spec.measure.observations * cell.problem.P + 1);
  return 2 * bytes;  // the cell files and the merged one
}

}  // namespace

Run::Run(const Plan& plan, const comm::Backend& backend, Options options)
    : plan_(plan), backend_(backend), options_(std::move(options)), store_(options_.output) {
  if (plan.spec.backend.device == DeviceKind::cuda) fabric_ = "emulated";  // until ranks have devices
}

RunOutcome Run::run(const std::atomic<bool>& stop) {
  if (plan_.spec.measure.stop && !(options_.stopping.looks && options_.stopping.enough))
    throw core::Error(core::ErrorKind::usage, fmt::format("{}: 'stop' needs a rule that says when Delta is known well enough, and this caller gave none", plan_.spec.file));
  if (backend_.launcher_ranks() > 0)
    launch_all(stop);
  else
    launch_each(stop);
  outcome_.root = mode_ == Mode::root;
  if (!outcome_.root) return outcome_;
  const std::lock_guard lock(writing_);
  if (!written_) write();
  return std::move(outcome_);
}

/// Everything that can make the run worthless is found before the first timing.
void Run::open_output() {
  const auto& out = options_.output;
  core::probe_output(out, options_.overwrite || options_.resume, expected_bytes(plan_));
  if (store_.exists() && !options_.resume && !options_.overwrite)
    throw core::Error(core::ErrorKind::usage, fmt::format("{}: an unfinished run is kept there: go on with `megaup resume {}`, or discard it with --force",
                                                          store_.folder().string(), out.string()));
  store_.open();
  if (!options_.resume)
    for (const auto& id : store_.ids()) store_.discard(id);
  store_.keep_spec(plan_.spec.yaml, plan_.spec.file);
  const std::lock_guard lock(writing_);
  mode_ = Mode::root;
}

void Run::choose_cells() {
  for (const auto& cell : plan_.cells) {
    if (!cell.refused.empty()) continue;
    std::string why;
    const auto stored = options_.resume ? store_.get(cell.id, &why) : std::nullopt;
    if (stored) why = why_again(*stored, cell);
    if (stored && why.empty()) {
      ++outcome_.kept;
      if (options_.on_cell) options_.on_cell({CellEvent::Kind::kept, 0, plan_.n_runnable, &cell, &stored->cells[0], 0, "finished before"});
      continue;
    }
    if (options_.resume) again_[cell.id] = why.empty() ? "not measured before" : why;
    todo_.push_back(&cell);
  }
}

std::string Run::why_again(const core::Record& stored, const Cell& cell) const {
  const auto& record = stored.cells[0];
  if (record.status != "measured") return fmt::format("{} before: {}", record.status, record.reason);
  const auto identity = record.extra.find("identity");
  if (identity == record.extra.end() || identity->second != core::Attribute(cell.identity)) return "its part of the spec changed";
  if (stored.megaup_version != core::version() || stored.git != core::git_commit())
    return fmt::format("measured by megaup {} ({}), this is {} ({})", stored.megaup_version, stored.git, core::version(), core::git_commit());
  for (const char* key : {"hardware", "communicator"}) {
    const auto then = stored.environment.find(key);
    const auto now = options_.environment.find(key);
    if (then == stored.environment.end() || now == options_.environment.end() || then->second != now->second)
      return fmt::format("measured with another {}", key);
  }
  return {};
}

/// A launcher made the world: one launch carries all cells.
void Run::launch_all(const std::atomic<bool>& stop) {
  std::exception_ptr agreed;  // all ranks know of it, so the world ends in order and the launch itself succeeds
  backend_.launch({0, std::chrono::duration<double>(plan_.spec.measure.cell_timeout_s)}, [&](comm::Communicator& world) {
    const ops::KokkosSession kokkos;  // begins after MPI, ends before it
    try {
      meet(world);
      measure_on(world, shared_choice(world), stop);
    } catch (const AgreedError& error) {
      agreed = std::current_exception();
      if (world.rank() == 0 && options_.on_refusal) options_.on_refusal(error);
      world.barrier();
    }
  });
  if (agreed) std::rethrow_exception(agreed);
}

/// Rank 0 opens the output and chooses; the others are told, or told why not.
std::vector<const Cell*> Run::shared_choice(comm::Communicator& world) {
  core::ErrorKind kind = core::ErrorKind::environment;
  core::Reason refused;
  std::string mine;
  if (world.rank() == 0) {
    try {
      open_output();
      choose_cells();
    } catch (const core::Error& error) {
      kind = error.kind();
      refused = error.what();
    }
    for (const auto* cell : todo_) mine += cell->id + '\n';
  }
  agree(world, kind, refused);
  const auto ids = world.all_gather(std::string_view(mine)).front();
  std::vector<const Cell*> cells;
  for (const auto& cell : plan_.cells)
    if (cell.refused.empty() && ids.find(cell.id + '\n') != std::string::npos) cells.push_back(&cell);
  return cells;
}

/// Ranks are made for each cell, so a cell whose ranks fail out of step costs that cell alone.
void Run::launch_each(const std::atomic<bool>& stop) {
  open_output();
  choose_cells();
  const ops::KokkosSession kokkos;
  for (const auto* cell : todo_) {
    if (stop.load() || stopped_) break;
    const auto ranks = static_cast<int>(cell->problem.P);
    try {
      // A rank with a device computes nothing on its core; what it checks on the host may use all.
      const bool pin = plan_.spec.backend.device == DeviceKind::host;
      backend_.launch({ranks, std::chrono::duration<double>(plan_.spec.measure.cell_timeout_s), pin},
                      [&](comm::Communicator& world) { measure_on(world, {cell}, stop); });
    } catch (const core::Error& error) {
      if (error.kind() == core::ErrorKind::environment) throw;
      auto record = blank_cell(plan_, *cell, timed_ranks(plan_, ranks));
      record.status = "failed";
      record.reason = error.rank() >= 0 ? fmt::format("rank {}: {}", error.rank(), error.what()) : error.what();
      finish(*cell, std::move(record));
    }
  }
  stopped_ = stopped_ || stop.load();
}

/// Before the first exchange: ranks that would measure different things must not measure at all.
void Run::meet(comm::Communicator& world) {
  const auto hashes = world.all_gather(std::string_view(plan_.hash));
  for (std::size_t rank = 0; rank < hashes.size(); ++rank)
    if (hashes[rank] != hashes[0])
      throw AgreedError(core::ErrorKind::usage, fmt::format("ranks have different plans: rank 0 has {}, rank {} has {}: give every rank the same spec and the same program",
                                                            hashes[0], rank, hashes[rank]));
  auto hosts = world.all_gather(std::string_view(options_.environment["host"]));
  options_.environment["hosts"] = fmt::format("{}", fmt::join(hosts, " "));
}

void Run::measure_on(comm::Communicator& world, const std::vector<const Cell*>& cells, const std::atomic<bool>& stop) {
  std::unique_ptr<comm::Communicator> on_devices;
  for (const auto* cell : cells) {
    if (world.rank() == 0) begin(*cell);
    if (plan_.spec.backend.device == DeviceKind::cuda && !on_devices) on_devices = take_devices(world, plan_.spec);
    auto& ranks = on_devices ? *on_devices : world;
    if (world.rank() == 0) {
      const std::lock_guard lock(writing_);
      fabric_ = ranks.fabric();
    }
    try {
      auto record = measure_cell(plan_, *cell, ranks, options_.find_arm, options_.stopping, stop);
      if (world.rank() == 0) finish(*cell, std::move(record));
    } catch (const AgreedError& error) {  // only `stopped` leaves measure_cell
      if (world.rank() == 0) stopped_ = true;
      return;
    }
  }
}

void Run::begin(const Cell& cell) {
  store_.set_current(cell.id);
  began_s_ = now_s();
  ++begun_;
  const auto why = again_.find(cell.id);
  if (options_.on_cell)
    options_.on_cell({CellEvent::Kind::begins, begun_ + outcome_.kept, plan_.n_runnable, &cell, nullptr, 0, why == again_.end() ? "" : why->second});
}

void Run::finish(const Cell& cell, core::CellRecord record) {
  const bool measured = record.status == "measured";
  (measured ? outcome_.measured : outcome_.failed) += 1;
  if (record.extra.contains("failed_in")) outcome_.validation_failed = true;
  auto one = envelope();
  one.cells.push_back(std::move(record));
  {
    const std::lock_guard lock(writing_);
    if (!written_) store_.put(one);
    store_.set_current("");
  }
  if (options_.on_cell)
    options_.on_cell({measured ? CellEvent::Kind::measured : CellEvent::Kind::failed, begun_ + outcome_.kept, plan_.n_runnable, &cell, &one.cells[0],
                      now_s() - began_s_, {}});
}

core::Record Run::envelope() const {
  core::Record record;
  record.created = core::utc_now();
  record.megaup_version = core::version();
  record.git = core::git_commit();
  record.fabric = fabric_;
  record.extra["plan_sha256"] = plan_.hash;
  record.environment = options_.environment;
  record.spec_yaml = plan_.spec.yaml;
  record.spec_resolved = plan_.resolved;
  record.spec_sha256_yaml = plan_.yaml_sha256;
  record.spec_sha256_resolved = plan_.resolved_sha256;
  return record;
}

core::Record Run::merge() const {
  auto merged = envelope();
  const auto in_hand = store_.current();
  for (const auto& cell : plan_.cells) {
    if (auto stored = cell.refused.empty() ? store_.get(cell.id) : std::nullopt) {
      merged.cells.push_back(std::move(stored->cells[0]));
      continue;
    }
    auto blank = blank_cell(plan_, cell, timed_ranks(plan_, static_cast<int>(cell.problem.P)));
    blank.status = cell.refused.empty() ? "incomplete" : "refused";
    blank.reason = !cell.refused.empty()     ? cell.refused
                   : in_hand == cell.id ? "stopped while it was measured"
                                             : "not measured: stopped before its turn";
    merged.cells.push_back(std::move(blank));
  }
  return merged;
}

void Run::write() {
  outcome_.record = merge();
  written_ = true;
  core::write_record(outcome_.record, options_.output, options_.overwrite || options_.resume);
  outcome_.refused = plan_.n_refused;
  outcome_.unfinished = std::count_if(outcome_.record.cells.begin(), outcome_.record.cells.end(), [](const auto& c) { return c.status == "incomplete"; });
  const bool complete = outcome_.unfinished == 0 && outcome_.failed == 0;
  if (complete) store_.remove();
}

bool Run::write_unfinished() {
  const std::lock_guard lock(writing_);
  if (mode_ != Mode::root) return false;
  if (!written_) write();
  return true;
}

}  // namespace megaup::experiments
