#include <megaup/experiments/plan_cell.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/core/hash.hpp>
#include <megaup/experiments/cell_values.hpp>
#include <megaup/experiments/sequence.hpp>
#include <megaup/ops/operation.hpp>

namespace megaup::experiments {
namespace {

constexpr std::size_t kSlugCharacters = 40;
constexpr std::size_t kIdHashCharacters = 12;  // 48 bits: a clash among 100,000 cells is less likely than 1 in 50,000

std::int64_t integer(const CellValues& values, CellKey key) { return std::get<std::int64_t>(*values[index(key)]); }
const std::string& word(const CellValues& values, CellKey key) { return std::get<std::string>(*values[index(key)]); }

template <class Enum>
Enum choice(const CellValues& values, CellKey key) {
  const auto choices = cell_keys()[index(key)].choices;
  return static_cast<Enum>(std::ranges::find(choices, std::string_view(word(values, key))) - choices.begin());
}

/// Takes the sizes from the named model, or from the keys themselves.
void set_sizes(Cell& cell, const CellValues& values, const Spec& spec) {
  core::Problem& p = cell.problem;
  if (values[index(CellKey::model)]) {
    cell.model = word(values, CellKey::model);
    const Model& model = spec.models.at(cell.model);
    p.H = model.hidden, p.Hq = model.query_heads, p.Hk = model.kv_heads, p.D = model.head_dim;
    return;
  }
  p.H = integer(values, CellKey::hidden);
  p.Hq = integer(values, CellKey::query_heads);
  p.Hk = integer(values, CellKey::kv_heads);
  p.D = integer(values, CellKey::head_dim);
  cell.model = fmt::format("h{}-q{}-kv{}-d{}", p.H, p.Hq, p.Hk, p.D);
}

/// Sets s, or says why the tokens cannot be divided. s stays 0 then: a rounded size must not look like a real one.
std::string set_tokens(core::Problem& p, const CellValues& values) {
  p.s = 0;
  if (values[index(CellKey::tokens_per_rank)]) {
    const std::int64_t M = integer(values, CellKey::tokens_per_rank);
    if (M % p.B != 0)
      return fmt::format("tokens_per_rank {} is not a multiple of batch {} (M % B = {})", M, p.B, M % p.B);
    p.s = M / p.B;
    return {};
  }
  const std::int64_t S = integer(values, CellKey::sequence_length);
  const bool chunks = p.order == core::SequenceOrder::dual_chunk;
  const std::int64_t parts = chunks ? 2 * p.P : p.P;
  if (S % parts != 0)
    return fmt::format("sequence_length {} is not a multiple of {} = {}, the parts of a {} sequence (remainder {})", S,
                       chunks ? fmt::format("2 * cp {}", p.P) : "cp", parts, core::name(p.order), S % parts);
  p.s = S / p.P;
  return {};
}

std::string world_refusal(const core::Problem& p, const Spec& spec, std::int64_t world) {
  if (spec.backend.communicator == CommunicatorChoice::self && p.P != 1)
    return fmt::format("communicator self is one rank, cp is {}", p.P);
  if (world > 0 && world % p.P != 0)
    return fmt::format("cp {} does not divide the {} processes that were started (world % P = {})", p.P, world,
                       world % p.P);
  return {};
}

std::string slug(std::string_view model) {
  std::string out;
  for (const char c : model.substr(0, kSlugCharacters)) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_';
    out += plain ? c : '_';
  }
  return out;
}

/// What makes a cell this cell, one line a key.
std::string workload_text(const Cell& cell, const CellValues& values) {
  const core::Problem& p = cell.problem;
  std::string tokens = fmt::format("tokens_per_rank {}", cell.tokens_per_rank);
  if (cell.tokens_per_rank == 0) tokens = fmt::format("sequence_length {}", integer(values, CellKey::sequence_length));
  return fmt::format(
      "model {}\nhidden {}\nquery_heads {}\nkv_heads {}\nhead_dim {}\ncp {}\nbatch {}\n{}\ndtype {}\nformat {}\n"
      "sequence_order {}\nqkv_weight {}\nkv_replication {}\n",
      cell.model, p.H, p.Hq, p.Hk, p.D, p.P, p.B, tokens, word(values, CellKey::dtype), core::name(p.format),
      core::name(p.order), core::name(p.qkv_weight), p.kv_replication);
}

/// The settings that decide a cell's numbers. The time limit is not among them.
std::string settings_text(const Spec& spec) {
  const Measure& m = spec.measure;
  return fmt::format(
      "operations {}\narms {}\nwarmup {}\nobservations {}\npairs {}\nburn_in {}\nschedule {}\nstop {}\ncadence "
      "{}\nduty {}\ncache {}\ndevice "
      "{}\n"
      "communicator {}\nexchange {}\nshare_device {}\nsolo {}\npush {}\npull {}\nvalidate {}\nseed {}\n",
      fmt::join(spec.operations, " "), fmt::join(spec.arms.all(), " "), m.warmup, m.observations, m.most_pairs(),
      m.burn_in, name(m.schedule), m.stop ? fmt::format("{}", m.stop->half_width_s) : "never", name(m.cadence),
      name(m.duty), name(m.cache), name(spec.backend.device), name(spec.backend.communicator),
      name(spec.backend.exchange), spec.backend.share_device, spec.backend.solo, text(spec.backend.push),
      text(spec.backend.pull), name(spec.validate.mode), spec.validate.seed);
}

bool has_value(const Axis& axis, const CellValues& values, const Cell& cell) {
  const core::Problem& p = cell.problem;
  std::optional<CellValue> actual = values[index(axis.key)];
  if (!actual) {
    switch (axis.key) {
      case CellKey::hidden: actual = p.H; break;
      case CellKey::query_heads: actual = p.Hq; break;
      case CellKey::kv_heads: actual = p.Hk; break;
      case CellKey::head_dim: actual = p.D; break;
      case CellKey::tokens_per_rank: actual = cell.tokens_per_rank; break;
      case CellKey::sequence_length: actual = p.s > 0 && cell.refused.empty() ? p.S() : 0; break;
      default: return false;
    }
  }
  return std::ranges::find(axis.values, *actual) != axis.values.end();
}

}  // namespace

Cell make_cell(const CellValues& values, const Spec& spec, std::int64_t world) {
  Cell cell;
  core::Problem& p = cell.problem;
  set_sizes(cell, values, spec);
  p.P = integer(values, CellKey::cp);
  p.B = integer(values, CellKey::batch);
  p.format = choice<core::ActivationFormat>(values, CellKey::format);
  p.order = choice<core::SequenceOrder>(values, CellKey::sequence_order);
  p.qkv_weight = choice<core::QkvWeight>(values, CellKey::qkv_weight);
  p.kv_replication = std::get<bool>(*values[index(CellKey::kv_replication)]);

  cell.refused = set_tokens(p, values);
  if (cell.refused.empty()) cell.refused = core::refusal(p).value_or("");
  if (cell.refused.empty()) cell.refused = world_refusal(p, spec, world);
  if (values[index(CellKey::tokens_per_rank)])
    cell.tokens_per_rank = integer(values, CellKey::tokens_per_rank);
  else if (cell.refused.empty())  // else B*s may not fit
    cell.tokens_per_rank = p.M();

  const std::string workload = workload_text(cell, values);
  const std::string tokens = cell.tokens_per_rank > 0 ? fmt::format("m{}", cell.tokens_per_rank)
                                                      : fmt::format("s{}", integer(values, CellKey::sequence_length));
  cell.id =
      fmt::format("{}.cp{}.{}.{}", slug(cell.model), p.P, tokens, core::sha256(workload).substr(0, kIdHashCharacters));
  cell.identity = core::sha256(workload + settings_text(spec));
  return cell;
}

bool matches(const CellProduct& rule, const CellValues& values, const Cell& cell) {
  return std::ranges::all_of(rule.axes, [&](const Axis& axis) { return has_value(axis, values, cell); });
}

double total_flop(const Cell& cell, const Spec& spec) {
  double one_call = 0;
  for (const auto& operation_name : spec.operations)
    for (const auto* operation : parts(operation_name)) one_call += ops::flop(*operation, cell.problem);
  const std::size_t arms = spec.arms.baselines.size() + 1 + (spec.arms.control ? 1 : 0) +
                           (spec.arms.bounds.empty() ? 0 : 1);  // of the bounds one multiplies
  const std::int64_t calls = 2 * (spec.measure.most_pairs() + (spec.measure.burn_in ? 1 : 0)) *
                             (spec.measure.warmup + spec.measure.observations);
  return one_call * static_cast<double>(cell.problem.P) * static_cast<double>(arms) * static_cast<double>(calls);
}

}  // namespace megaup::experiments
