#include <megaup/simulation/measurements.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include <megaup/core/estimator.hpp>
#include <megaup/core/operation.hpp>

namespace megaup::simulation {
namespace {

using core::CellRecord;
using core::Record;

constexpr std::array<std::string_view, 3> kBounds{"gemm_only", "exchange_only", "reorder_only"};

std::string text(const CellRecord& cell, const std::string& attribute) {
  const auto found = cell.extra.find(attribute);
  const auto* const value = found == cell.extra.end() ? nullptr : std::get_if<std::string>(&found->second);
  return value == nullptr ? std::string() : *value;
}

std::int64_t whole(const CellRecord& cell, const std::string& attribute) {
  const auto found = cell.extra.find(attribute);
  const auto* const value = found == cell.extra.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return value == nullptr ? 0 : *value;
}

template <class Choice>
Choice choice(const std::string& text, std::initializer_list<Choice> all, Choice otherwise) {
  const auto found = std::ranges::find_if(all, [&](Choice one) { return name(one) == text; });
  return found == all.end() ? otherwise : *found;
}

core::Problem problem_of(const CellRecord& cell) {
  using enum core::ActivationFormat;
  core::Problem p;
  p.P = cell.cp, p.B = cell.batch, p.s = cell.batch > 0 ? cell.tokens_per_rank / cell.batch : 0;
  p.H = cell.hidden, p.Hq = cell.query_heads, p.Hk = cell.kv_heads, p.D = cell.head_dim;
  p.format = choice(cell.format, {sbhd, bshd, thd}, sbhd);
  p.order = choice(cell.sequence_order, {core::SequenceOrder::contiguous, core::SequenceOrder::dual_chunk},
                   core::SequenceOrder::contiguous);
  p.qkv_weight =
      choice(cell.qkv_weight, {core::QkvWeight::grouped, core::QkvWeight::concatenated}, core::QkvWeight::grouped);
  p.kv_replication = whole(cell, "kv_replication") != 0;
  return p;
}

/// Why the times of a cell cannot be read.
core::Reason unusable(const CellRecord& cell) {
  if (!cell.fault.empty()) return cell.fault;
  if (cell.status != "measured") return fmt::format("{}: {}", cell.status, cell.reason);
  if (const auto reason = core::refusal(problem_of(cell))) return reason;
  if (cell.cp == 1) return "one rank: nothing is exchanged";
  if (whole(cell, "solo") != 0) return "rank 0 was timed alone";
  if (text(cell, "cache") == "cold") return "cold caches: a machine file describes warm ones";
  if (text(cell, "cadence") == "back_to_back")
    return "back to back: a machine file describes ranks that start together";
  for (const char* family : {"push", "pull"})
    if (const std::string kernel = text(cell, family); !kernel.empty() && kernel != "auto")
      return fmt::format("{} {}: a machine file describes the kernels that the planner chooses", family, kernel);
  const auto initial = std::ranges::count(cell.order, std::uint8_t{0});
  const auto reversed = std::ranges::count(cell.order, std::uint8_t{1});
  if (initial == 0 || reversed == 0 || static_cast<std::size_t>(initial + reversed) != cell.order.size())
    return fmt::format("{} initial and {} reversed of {} blocks", initial, reversed, cell.order.size());
  if (cell.observations <= 0 || cell.ranks <= 0 ||
      cell.latency.size() != cell.index(cell.operations.size(), 0, 0, 0, 0))
    return fmt::format("{} times do not fit its axes", cell.latency.size());
  return {};
}

/// The exchange of native_packed without its version: "nccl 2.28.3" -> "nccl".
std::string stored_transport(const CellRecord& cell) {
  for (const core::OperationForm& op : core::kOperationForms)
    if (const std::string full = text(cell, fmt::format("{}_native_packed_exchange", op.name)); !full.empty())
      return full.substr(0, full.find(' '));
  return {};
}

std::int64_t stored_multiprocessors(const CellRecord& cell) {
  for (const core::OperationForm& op : core::kOperationForms)
    if (const std::int64_t count = whole(cell, fmt::format("{}_fused_multiprocessors", op.name)); count > 0)
      return count;
  return 0;
}

MeasuredCell measured_cell(const Record& record, const CellRecord& cell) {
  MeasuredCell out{.file = std::filesystem::path(record.path).filename().string(),
                   .cell = cell.id,
                   .model = cell.model,
                   .problem = problem_of(cell),
                   .duty = text(cell, "duty"),
                   .schedule = text(cell, "schedule"),
                   .fabric = record.fabric,
                   .device = text(cell, "devices").substr(0, text(cell, "devices").find(',')),
                   .date = record.created.substr(0, 10),
                   .multiprocessors = stored_multiprocessors(cell),
                   .default_transport = stored_transport(cell),
                   .arms = cell.arms};
  std::vector<double> scratch;
  for (std::size_t op = 0; op < cell.operations.size(); ++op) {
    if (core::find_form(cell.operations[op]) == nullptr) continue;
    for (std::size_t arm = 0; arm < cell.arms.size(); ++arm)
      if (const auto times = core::arm_times(cell, op, arm, scratch))
        out.seconds.try_emplace({cell.operations[op], cell.arms[arm]}, times->mean_ms() * 1e-3);
  }
  return out;
}

bool has_bounds(const MeasuredCell& cell) {
  return std::ranges::all_of(core::kOperationForms, [&](const core::OperationForm& op) {
    return std::ranges::all_of(kBounds, [&](std::string_view arm) { return cell.time(op.name, arm) != nullptr; });
  });
}

void take(const Record& record, Measurements& out) {
  for (const CellRecord& cell : record.cells) {
    const std::string place = fmt::format("{} {}", std::filesystem::path(record.path).filename().string(), cell.id);
    if (const auto reason = unusable(cell)) {
      out.skipped.push_back(fmt::format("{}: {}", place, *reason));
      continue;
    }
    MeasuredCell measured = measured_cell(record, cell);
    if (has_bounds(measured))
      out.cells.push_back(std::move(measured));
    else
      out.skipped.push_back(fmt::format("{}: gemm_only, exchange_only or reorder_only was not taken whole", place));
  }
}

/// Two cells that cannot describe one machine.
core::Reason mixed(const std::vector<MeasuredCell>& cells) {
  const MeasuredCell& first = cells.front();
  for (const MeasuredCell& cell : cells)
    for (const auto& [what, member] :
         {std::pair("fabric", &MeasuredCell::fabric), std::pair("duty", &MeasuredCell::duty),
          std::pair("schedule", &MeasuredCell::schedule), std::pair("GPU", &MeasuredCell::device),
          std::pair("exchange of native_packed", &MeasuredCell::default_transport)})
      if (cell.*member != first.*member && !((cell.*member).empty() || (first.*member).empty()))
        return fmt::format("{} {} is '{}', {} {} has '{}': one machine cannot be both, calibrate each for itself", what,
                           first.file, first.*member, cell.file, cell.cell, cell.*member);
  return {};
}

core::Reason no_source(const Record& record) {
  if (record.source != "measured")
    return fmt::format("{}: its source is '{}': a prediction is no measurement, give files that `megaup run` wrote",
                       record.path, record.source);
  if (record.fabric == "emulated")
    return fmt::format(
        "{}: its fabric is emulated, ranks shared one device or were alone: its exchange says nothing about a link",
        record.path);
  return {};
}

}  // namespace

const double* MeasuredCell::time(std::string_view operation, std::string_view arm) const {
  const auto found = seconds.find({std::string(operation), std::string(arm)});
  return found == seconds.end() ? nullptr : &found->second;
}

Answer<Measurements> measurements(const std::vector<core::Record>& records) {
  for (const Record& record : records)
    if (const auto reason = no_source(record)) return Cannot{*reason};
  Measurements out;
  for (const Record& record : records) take(record, out);
  if (out.cells.empty())
    return Cannot{fmt::format(
        "no measured cell with gemm_only, exchange_only and reorder_only ({} skipped{}): run with `bounds: true`",
        out.skipped.size(), out.skipped.empty() ? "" : fmt::format(", the first: {}", out.skipped.front()))};
  if (const auto reason = mixed(out.cells)) return Cannot{*reason};
  return out;
}

}  // namespace megaup::simulation
