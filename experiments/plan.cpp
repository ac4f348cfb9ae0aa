#include <megaup/experiments/plan.hpp>

#include <limits>
#include <unordered_set>

#include <fmt/format.h>

#include <megaup/core/hash.hpp>
#include <megaup/experiments/cell_values.hpp>
#include <megaup/experiments/plan_cell.hpp>
#include <megaup/experiments/plan_memory.hpp>

namespace megaup::experiments {
namespace {

constexpr std::int64_t kMany = std::numeric_limits<std::int64_t>::max();

/// Cells of a product, at most kMany.
std::int64_t count(const CellProduct& product) {
  std::int64_t n = 1;
  for (const Axis& axis : product.axes)
    if (__builtin_mul_overflow(n, static_cast<std::int64_t>(axis.values.size()), &n)) return kMany;
  return n;
}

std::int64_t count(const Spec& spec) {
  std::int64_t n = spec.matrix ? count(*spec.matrix) : 0;
  for (const CellProduct& product : spec.include)
    if (__builtin_add_overflow(n, count(product), &n)) return kMany;
  return n;
}

/// Adds cells to a plan rule by rule.
class Expansion {
 public:
  Expansion(Plan& plan, const PlanOptions& options)
      : plan_(plan), spec_(plan.spec), world_(options.world), device_bytes_(options.device_bytes) {
    for (std::size_t i = 0; i < spec_.exclude.size(); ++i)
      removed_.push_back({fmt::format("exclude {}", i + 1), spec_.exclude[i].line});
  }

  void add(const CellProduct& product, const std::string& rule) {
    rule_ = {rule, product.line};
    std::vector<std::size_t> at(product.axes.size(), 0);
    bool more = true;
    while (more) {
      CellValues values = spec_.workload;
      for (std::size_t i = 0; i < at.size(); ++i) set(values, product.axes[i].key, product.axes[i].values[at[i]]);
      add(values);
      more = false;
      for (std::size_t i = at.size(); i-- > 0 && !more;) {  // the last axis varies fastest
        more = ++at[i] < product.axes[i].values.size();
        if (!more) at[i] = 0;
      }
    }
    plan_.rules.push_back(rule_);
  }

  void finish() { plan_.rules.insert(plan_.rules.end(), removed_.begin(), removed_.end()); }

 private:
  void add(const CellValues& values) {
    Cell cell = make_cell(values, spec_, world_);
    ++rule_.cells;
    if (!ids_.insert(cell.id).second) {
      ++rule_.duplicates;
      return;
    }
    for (std::size_t i = 0; i < removed_.size(); ++i)
      if (matches(spec_.exclude[i], values, cell)) {
        ++removed_[i].cells;
        return;
      }
    if (cell.refused.empty()) {
      cell.bytes_per_rank = planned_bytes(cell.problem, spec_);
      cell.least_bytes_per_rank = planned_bytes(cell.problem, spec_, leanest_providers(cell.problem, spec_));
      cell.refused = device_refusal(cell.problem, spec_, cell.bytes_per_rank, device_bytes_);
    }
    if (cell.refused.empty()) {
      cell.flop = total_flop(cell, spec_);
      ++plan_.n_runnable;
    } else {
      cell.bytes_per_rank = 0;
      ++plan_.n_refused;
    }
    plan_.cells.push_back(std::move(cell));
  }

  Plan& plan_;
  const Spec& spec_;
  std::int64_t world_, device_bytes_;
  RuleCount rule_;
  std::vector<RuleCount> removed_;
  std::unordered_set<std::string> ids_;
};

/// A small generator whose sequence is the same everywhere (splitmix64, Steele, Lea and Flood 2014).
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

Plan plan(const Spec& spec, const PlanOptions& options) {
  const std::int64_t n = count(spec);
  if (n > options.cell_limit)
    throw core::Error(
        core::ErrorKind::usage,
        fmt::format("{}: {}{} cells, limit {}: shorten the lists of 'matrix' and 'include', or raise --limit",
                    spec.file, n == kMany ? "more than " : "", n, options.cell_limit));
  Plan plan;
  plan.spec = spec;
  plan.resolved = resolved_json(spec);
  plan.yaml_sha256 = core::sha256(spec.yaml);
  plan.resolved_sha256 = core::sha256(plan.resolved);
  plan.hash = core::sha256(fmt::format("{}\nversion {}\n", plan.resolved, options.version));

  Expansion expansion(plan, options);
  if (spec.matrix) expansion.add(*spec.matrix, "matrix");
  for (std::size_t i = 0; i < spec.include.size(); ++i)
    expansion.add(spec.include[i], fmt::format("include {}", i + 1));
  expansion.finish();
  if (plan.cells.empty())
    throw core::Error(core::ErrorKind::usage, fmt::format("{}: 'exclude' removes all {} cells", spec.file, n));
  return plan;
}

std::vector<std::uint8_t> block_kinds(const Spec& spec) {
  std::vector<std::uint8_t> kinds;
  std::uint64_t state = spec.validate.seed;
  bool reversed_first = false;
  for (std::int64_t pair = 0; pair < spec.measure.most_pairs(); ++pair) {
    if (pair % 2 == 1)
      reversed_first = !reversed_first;
    else if (pair > 0 || spec.measure.most_pairs() > 1)
      reversed_first = next_random(state) % 2 == 1;
    kinds.push_back(reversed_first ? 1 : 0);
    kinds.push_back(reversed_first ? 0 : 1);
  }
  return kinds;
}

}  // namespace megaup::experiments
