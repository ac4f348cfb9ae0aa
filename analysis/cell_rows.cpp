#include <megaup/analysis/cell_rows.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include <fmt/format.h>

#include <megaup/analysis/shortfall.hpp>
#include <megaup/core/estimator.hpp>

namespace megaup::analysis {
namespace {

using core::CellRecord;

std::string candidate_arm(const CellRecord& cell) {
  if (const auto found = cell.extra.find("candidate"); found != cell.extra.end())
    if (const auto* name = std::get_if<std::string>(&found->second); name != nullptr && !name->empty()) return *name;
  return std::string(kDefaultCandidate);
}

std::vector<std::string> baseline_arms(const CellRecord& cell, std::string_view candidate) {
  std::vector<std::string> baselines;
  for (const std::string& arm : cell.arms) {
    const bool other =
        arm == candidate || arm == kGemmOnly || arm == kExchangeOnly || arm == kReorderOnly || arm == kControl;
    if (!other && std::find(baselines.begin(), baselines.end(), arm) == baselines.end()) baselines.push_back(arm);
  }
  if (baselines.empty()) baselines.emplace_back(kDefaultBaseline);
  return baselines;
}

/// Times of all arms at kOperations; nothing where an arm, an operation or a value is missing.
class CellTimes {
 public:
  explicit CellTimes(const CellRecord& cell) : cell_(cell), times_(kOperations.size() * cell.arms.size()) {
    std::vector<double> scratch;
    scratch.reserve(static_cast<std::size_t>(cell.observations));
    for (std::size_t op = 0; op < kOperations.size(); ++op) {
      const auto stored = position(cell.operations, kOperations[op]);
      if (!stored) continue;
      for (std::size_t arm = 0; arm < cell.arms.size(); ++arm)
        times_[op * cell.arms.size() + arm] = core::arm_times(cell, *stored, arm, scratch);
    }
  }

  const std::optional<core::ArmTimes>& at(std::size_t op, std::string_view arm) const {
    const auto stored = position(cell_.arms, arm);
    return stored ? times_[op * cell_.arms.size() + *stored] : none_;
  }

 private:
  const CellRecord& cell_;
  std::vector<std::optional<core::ArmTimes>> times_;
  std::optional<core::ArmTimes> none_;
};

std::optional<double> mean_ms(const std::optional<core::ArmTimes>& times) {
  if (times) return times->mean_ms();
  return std::nullopt;
}

OperationRow operation_row(const CellTimes& times, std::size_t op, const core::ArmTimes& baseline,
                           const core::ArmTimes& candidate) {
  OperationRow row;
  row.operation = kOperations[op];
  row.baseline_ms = baseline.mean_ms();
  row.candidate_ms = candidate.mean_ms();
  row.delta_ms = row.baseline_ms - row.candidate_ms;
  row.gemm_ms = mean_ms(times.at(op, kGemmOnly));
  row.exchange_ms = mean_ms(times.at(op, kExchangeOnly));
  row.reorder_ms = mean_ms(times.at(op, kReorderOnly));
  if (row.gemm_ms && row.exchange_ms) {
    row.floor_ms = std::max(*row.gemm_ms, *row.exchange_ms);
    if (*row.floor_ms < row.baseline_ms) row.realised = row.delta_ms / (row.baseline_ms - *row.floor_ms);
  }
  return row;
}

/// The block of the two arms with the widest middle half.
void note_spread(const CellRecord& cell, const CellTimes& times, Row& row) {
  double widest = core::kWideSpread;
  std::string worst;
  for (std::size_t op = 0; op < kOperations.size(); ++op)
    for (const std::string& arm : {row.baseline, row.candidate})
      if (const auto& found = times.at(op, arm); found && found->widest_spread > widest) {
        widest = found->widest_spread;
        worst = fmt::format("{}, {}, block {}", kOperations[op], arm, found->widest_block);
      }
  if (worst.empty()) return;
  row.warnings.push_back(
      {"spread warning", fmt::format("the middle half of the {} observations at {} spans {:.0f} % of their median",
                                     cell.observations, worst, 100 * widest)});
}

void note_orders(Row& row) {
  const Delta& delta = *row.delta;
  if (!core::orders_disagree(delta.initial_ms, delta.reversed_ms, delta.baseline_ms)) return;
  row.warnings.push_back(
      {"order warning",
       fmt::format("the run orders disagree: {:+.4g} ms from the initial, {:+.4g} ms from the reversed blocks",
                   delta.initial_ms, delta.reversed_ms)});
}

bool partly_taken(const CellRecord& cell, std::size_t op, std::size_t arm) {
  const auto first = cell.latency.begin() + static_cast<std::ptrdiff_t>(cell.index(op, arm, 0, 0, 0));
  const auto last = cell.latency.begin() + static_cast<std::ptrdiff_t>(cell.index(op, arm + 1, 0, 0, 0));
  return std::any_of(first, last, [](double time) { return !std::isnan(time); });
}

void note_bounds(const CellRecord& cell, const CellTimes& times, Row& row) {
  for (const std::string_view bound : {kGemmOnly, kExchangeOnly, kReorderOnly}) {
    const auto arm = position(cell.arms, bound);
    for (std::size_t op = 0; arm && op < kOperations.size(); ++op)
      if (!times.at(op, bound) && partly_taken(cell, *position(cell.operations, kOperations[op]), *arm))
        row.warnings.push_back(
            {"", fmt::format("bound left out: {} of {} has a value that is no time", bound, kOperations[op])});
  }
  for (const OperationRow& operation : row.operations)
    if (operation.floor_ms && operation.candidate_ms < *operation.floor_ms)
      row.warnings.push_back(
          {"below the floor",
           fmt::format("{} of {} is faster ({:.4g} ms) than its GEMM or its exchange alone ({:.4g} ms)", row.candidate,
                       operation.operation, operation.candidate_ms, *operation.floor_ms)});
}

void add_delta(const CellTimes& times, Row& row) {
  Delta total;
  for (std::size_t op = 0; op < kOperations.size(); ++op) {
    const core::ArmTimes& baseline = *times.at(op, row.baseline);
    const core::ArmTimes& candidate = *times.at(op, row.candidate);
    total.baseline_ms += row.operations[op].baseline_ms;
    total.candidate_ms += row.operations[op].candidate_ms;
    total.delta_ms += row.operations[op].delta_ms;
    total.initial_ms += baseline.initial_ms - candidate.initial_ms;
    total.reversed_ms += baseline.reversed_ms - candidate.reversed_ms;
  }
  if (std::isfinite(total.baseline_ms) && std::isfinite(total.candidate_ms)) {
    row.delta = total;
  } else {
    row.status = "invalid";
    row.reason = "the times are too large to be summed";
  }
}

/// A sum over fewer than four operations is no Delta: it is told apart in words and stays out of `delta`.
void note_partial(Row& row) {
  if (row.operations.empty()) return;
  double sum = 0;
  for (const OperationRow& operation : row.operations) sum += operation.delta_ms;
  row.warnings.push_back({"", fmt::format("no Delta: only {}/{} operations are whole; these sum to {:+.4g} ms",
                                          row.operations.size(), kOperations.size(), sum)});
}

void compare(const CellRecord& cell, const CellTimes& times, Depth depth, Row& row) {
  for (std::size_t op = 0; op < kOperations.size(); ++op) {
    const auto& baseline = times.at(op, row.baseline);
    const auto& candidate = times.at(op, row.candidate);
    if (baseline && candidate) row.operations.push_back(operation_row(times, op, *baseline, *candidate));
  }
  if (row.operations.size() < kOperations.size()) {
    const Shortfall found = pair_shortfall(cell, row.baseline, row.candidate).value();
    row.status = found.status;
    row.reason = found.reason;
    note_partial(row);
    return;
  }
  row.status = "measured";
  add_delta(times, row);
  if (!row.delta) return;
  note_spread(cell, times, row);
  note_bounds(cell, times, row);
  row.statistics = statistics_of(cell, row.baseline, row.candidate);
  if (!row.statistics.difference) note_orders(row);  // else the order effect has an interval of its own
  if (depth != Depth::rows) row.details = details_of(cell, row.baseline, row.candidate, depth);
}

/// Attributes that the run found out or chose for itself, or that were predicted, are no settings.
bool is_setting(std::string_view name) {
  if (name.starts_with("predicted_")) return false;
  constexpr std::array<std::string_view, 4> kFound{"identity", "failed_in", "validation_rows", "oversubscribed"};
  if (name.find("bytes") != std::string_view::npos || std::find(kFound.begin(), kFound.end(), name) != kFound.end())
    return false;
  return std::none_of(kOperations.begin(), kOperations.end(), [&](std::string_view operation) {
    return name.starts_with(operation) && name.substr(operation.size()).starts_with('_');
  });
}

/// Words and counts as text; measured numbers are no settings.
std::optional<std::string> setting_text(const core::Attribute& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* count = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *count);
  return std::nullopt;
}

/// What the specs of two files may have chosen differently, so that their times answer different questions.
std::map<std::string, std::string> setup_of(const CellRecord& cell) {
  std::map<std::string, std::string> setup{
      {"format", cell.format}, {"sequence_order", cell.sequence_order}, {"qkv_weight", cell.qkv_weight}};
  for (const char* name : {"kv_replication", "cadence", "cache", "duty", "schedule"})
    if (const auto found = cell.extra.find(name); found != cell.extra.end())
      if (auto text = setting_text(found->second)) setup[name] = *std::move(text);
  return setup;
}

}  // namespace

std::vector<Row> cell_rows(const core::Record& header, const CellRecord& cell, Depth depth) {
  const std::string candidate = candidate_arm(cell);
  Row common;
  common.file = header.path;
  common.cell = cell.id;
  common.model = cell.model;
  common.cp = cell.cp;
  common.tokens_per_rank = cell.tokens_per_rank;
  common.batch = cell.batch;
  common.head_dim = cell.head_dim;
  common.dtype = cell.dtype;
  common.setup = setup_of(cell);
  common.statistics.blocks = static_cast<std::int64_t>(cell.order.size());
  common.source = header.source;
  common.fabric = header.fabric;
  common.candidate = candidate;
  const auto found = cell_shortfall(cell);
  if (found) {
    common.status = found->status;
    common.reason = found->reason;
  }
  std::optional<CellTimes> times;
  if (!found) times.emplace(cell);

  std::vector<Row> rows;
  for (std::string& baseline : baseline_arms(cell, candidate)) {
    Row& row = rows.emplace_back(common);
    row.baseline = std::move(baseline);
    if (times) compare(cell, *times, depth, row);
  }
  return rows;
}

std::string identity(const core::Record& header, const CellRecord& cell, const Row& row) {
  // Lengths keep apart what a separator inside a name would join.
  std::string key =
      fmt::format("{} {} {} {} {} {} {} {} {}", cell.hidden, cell.query_heads, cell.kv_heads, cell.head_dim, cell.cp,
                  cell.batch, cell.tokens_per_rank, cell.order.size(), cell.observations);
  for (const std::string* text : {&header.source, &header.fabric, &cell.model, &cell.dtype, &cell.format,
                                  &cell.sequence_order, &cell.qkv_weight, &row.baseline, &row.candidate})
    fmt::format_to(std::back_inserter(key), " {}:{}", text->size(), *text);
  for (const auto& [name, value] : cell.extra)
    if (const auto text = setting_text(value); text && is_setting(name))
      fmt::format_to(std::back_inserter(key), " {}={}:{}", name, text->size(), *text);
  return key;
}

}  // namespace megaup::analysis
