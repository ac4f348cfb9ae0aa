#include <megaup/analysis/comparison.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

#include <megaup/core/student_t.hpp>

namespace megaup::analysis {
namespace {

constexpr double kConfidence = 0.95;

/// Differences that explain a change of times only by being a sign of another one, or not at all.
bool is_incidental(std::string_view name) {
  return name == "memory_total" || name == "git" || name == "megaup" || name == "spec" ||
         name.starts_with("variable_SLURM");
}

std::map<std::string, std::string> surroundings(const Input& input) {
  auto all = input.environment;
  all.erase("machine_yaml");  // a whole file: machine_sha256 says whether it is the same
  all["source"] = input.source;
  all["fabric"] = input.fabric;
  all["git"] = input.git;
  all["megaup"] = input.megaup_version;
  all["spec"] = input.spec_sha256;
  return all;
}

std::vector<EnvironmentDifference> differences(const Input& a, const Input& b) {
  const auto in_a = surroundings(a), in_b = surroundings(b);
  std::set<std::string> names;
  for (const auto* side : {&in_a, &in_b})
    for (const auto& [name, value] : *side) names.insert(name);
  const auto value = [](const auto& side, const std::string& name) {
    const auto found = side.find(name);
    return found == side.end() ? std::string() : found->second;
  };
  std::vector<EnvironmentDifference> found;
  for (const std::string& name : names)
    if (value(in_a, name) != value(in_b, name))
      found.push_back({name, value(in_a, name), value(in_b, name), !is_incidental(name)});
  return found;
}

auto key(const Row& row) {
  return std::tie(row.model, row.cp, row.tokens_per_rank, row.batch, row.head_dim, row.dtype, row.baseline,
                  row.candidate);
}

struct ByKey {
  bool operator()(const Row* a, const Row* b) const { return key(*a) < key(*b); }
};
using Index = std::multiset<const Row*, ByKey>;

Index index_of(const Analysis& analysis) {
  Index index;
  for (const Row& row : analysis.rows) index.insert(&row);
  return index;
}

/// Welch's interval of the difference of two independent estimates; the degrees of freedom are rounded down.
std::optional<Interval> welch(const Row& a, const Row& b, double change) {
  if (!a.conclusion.interval_ms || !b.conclusion.interval_ms) return std::nullopt;
  const OrderedMean &first = *a.statistics.difference, &second = *b.statistics.difference;
  const double variance_a = first.standard_error * first.standard_error,
               variance_b = second.standard_error * second.standard_error;
  const double variance = variance_a + variance_b;
  if (variance == 0) return Interval{change, change};
  const double degrees = variance * variance /
                         (variance_a * variance_a / static_cast<double>(first.degrees) +
                          variance_b * variance_b / static_cast<double>(second.degrees));
  const auto whole = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(degrees + 1e-9)));
  const double half = core::student_t_quantile(0.5 + 0.5 * kConfidence, whole) * std::sqrt(variance);
  return Interval{change - half, change + half};
}

/// "duty sustained in A, spaced in B"; empty if nothing that both store differs.
std::string setup_differences(const Row& a, const Row& b) {
  std::string text;
  for (const auto& [name, value] : a.setup)
    if (const auto other = b.setup.find(name); other != b.setup.end() && other->second != value)
      text += fmt::format("{}{} {} in A, {} in B", text.empty() ? "" : "; ", name, value, other->second);
  return text;
}

void pair_up(const Row& row, const Index& in_a, const Index& in_b, Comparison& result) {
  const auto partners = in_b.count(&row);
  if (partners == 0) {
    result.unpaired.push_back(fmt::format("{}: not in {}", place(row), result.path_b));
  } else if (in_a.count(&row) > 1 || partners > 1) {
    result.unpaired.push_back(fmt::format("{}: several cells with this configuration; none is paired", place(row)));
  } else if (const Row& other = **in_b.find(&row); !setup_differences(row, other).empty()) {
    result.unpaired.push_back(fmt::format("{}: {}", place(row), setup_differences(row, other)));
  } else if (!row.delta || !other.delta) {
    const Row& gap = row.delta ? other : row;
    result.unpaired.push_back(fmt::format("{}: {}: {}", place(gap), gap.status, gap.reason));
  } else {
    const double change = other.delta->delta_ms - row.delta->delta_ms;
    result.changes.push_back({row, other, change, welch(row, other, change)});
  }
}

}  // namespace

Comparison compare(const Analysis& a, const Analysis& b) {
  if (a.files.size() != 1 || b.files.size() != 1) throw std::logic_error("a comparison is of two files");
  Comparison result;
  result.path_a = a.files.front().path;
  result.path_b = b.files.front().path;
  result.environment = differences(a.files.front(), b.files.front());
  const Index in_a = index_of(a), in_b = index_of(b);
  for (const Row& row : a.rows) pair_up(row, in_a, in_b, result);
  for (const Row& row : b.rows)
    if (in_a.count(&row) == 0) result.unpaired.push_back(fmt::format("{}: not in {}", place(row), result.path_a));
  return result;
}

}  // namespace megaup::analysis
