#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/core/hash.hpp>
#include <megaup/core/record.hpp>
#include <megaup/core/record_refusal.hpp>
#include <megaup/core/text.hpp>

namespace megaup::core {
namespace {

constexpr std::array<std::string_view, 2> kSources{"measured", "simulated"};
constexpr std::array<std::string_view, 5> kFabrics{"host-memory", "nvlink", "pcie", "network", "emulated"};
constexpr std::array<std::string_view, 4> kStatuses{"measured", "failed", "incomplete", "refused"};

template <std::size_t n>
bool contains(const std::array<std::string_view, n>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Collects the violations of one object.
class Check {
 public:
  Check(std::vector<std::string>& found, std::string_view object) : found_(found), object_(one_line(object)) {}
  void add(const std::string& what) { found_.push_back(fmt::format("{}: {}", object_, what)); }
  template <std::size_t n>
  void one_of(const char* name, std::string_view value, const std::array<std::string_view, n>& words) {
    if (!contains(words, value))
      add(fmt::format("{} '{}' is not one of {}", name, one_line(value), fmt::join(words, ", ")));
  }

 private:
  std::vector<std::string>& found_;
  std::string object_;
};

/// 64 zeros say that the writer did not know it, as in `git`.
void check_hash(Check& check, const char* name, const std::string& stored, const std::string& document) {
  if (stored.empty() || stored == std::string(64, '0')) return;
  if (const auto actual = sha256(document); stored != actual)
    check.add(fmt::format("sha256 of '{}' is stored as {}, its bytes have {}", name, one_line(stored), actual));
}

void check_header(const Record& record, std::vector<std::string>& found) {
  Check root(found, "/");
  root.one_of("source", record.source, kSources);
  root.one_of("fabric", record.fabric, kFabrics);
  if (record.created.empty()) root.add("created is empty");
  if (record.megaup_version.empty()) root.add("megaup_version is empty");
  if (record.cells.empty()) root.add("has no cells");
  Check environment(found, "/environment");
  if (const auto host = record.environment.find("host"); host == record.environment.end() || host->second.empty())
    environment.add("host is missing");
  Check spec(found, "/spec");
  check_hash(spec, "yaml", record.spec_sha256_yaml, record.spec_yaml);
  check_hash(spec, "resolved", record.spec_sha256_resolved, record.spec_resolved);
}

void check_names(Check& check, const char* axis, const std::vector<std::string>& names) {
  std::set<std::string_view> seen;
  for (const auto& name : names) {
    if (name.empty()) check.add(fmt::format("an {} has an empty name", axis));
    if (!seen.insert(name).second) check.add(fmt::format("the {} '{}' occurs twice", axis, one_line(name)));
  }
}

void check_problem(Check& check, const CellRecord& cell) {
  const std::pair<const char*, std::int64_t> sizes[] = {{"hidden", cell.hidden},
                                                        {"query_heads", cell.query_heads},
                                                        {"kv_heads", cell.kv_heads},
                                                        {"head_dim", cell.head_dim},
                                                        {"cp", cell.cp},
                                                        {"batch", cell.batch},
                                                        {"tokens_per_rank", cell.tokens_per_rank}};
  for (const auto& [name, size] : sizes)
    if (size <= 0) check.add(fmt::format("{} is {}, and must be at least 1", name, size));
  if (cell.model.empty()) check.add("model is empty");
}

void check_status(Check& check, const CellRecord& cell) {
  check.one_of("status", cell.status, kStatuses);
  if (cell.status == "measured" && !cell.reason.empty())
    check.add(fmt::format("is measured, yet has the reason '{}'", one_line(cell.reason)));
  if (cell.status != "measured" && cell.reason.empty())
    check.add(fmt::format("its status is '{}', without a reason", one_line(cell.status)));
}

bool check_shape(Check& check, const CellRecord& cell) {
  for (const auto value : cell.order)
    if (value > 1) check.add(fmt::format("order has the value {}, and may have 0 (initial) or 1 (reversed)", value));
  const auto why = detail::wrong_sizes(cell);
  if (why) check.add(*why);
  return !why;
}

/// Times of a measured cell are finite and positive. The first that is not is named, and the others are counted.
void check_times(Check& check, const CellRecord& cell) {
  const auto n_ranks = static_cast<std::size_t>(cell.ranks),
             n_observations = static_cast<std::size_t>(cell.observations);
  std::size_t n_bad = 0, first = 0;
  for (std::size_t i = 0; i < cell.latency.size(); ++i) {
    if (std::isfinite(cell.latency[i]) && cell.latency[i] > 0) continue;
    if (n_bad++ == 0) first = i;
  }
  if (n_bad == 0) return;
  const auto rank = first % n_ranks, observation = first / n_ranks % n_observations;
  const auto series = first / n_ranks / n_observations;
  const auto block = series % cell.order.size(), arm = series / cell.order.size() % cell.arms.size();
  check.add(
      fmt::format("is measured, but {} of {} times are not finite and positive, the first is {} at {}, {}, block {}, "
                  "observation {}, rank {}",
                  n_bad, cell.latency.size(), number(cell.latency[first]),
                  one_line(cell.operations[series / cell.order.size() / cell.arms.size()]), one_line(cell.arms[arm]),
                  block, observation, rank));
}

/// The gate let nothing through that is not within its bound. An arm without a check has NaN in all three.
void check_errors(Check& check, const CellRecord& cell, const char* name, const std::vector<double>& errors) {
  for (std::size_t i = 0; i < errors.size() && i < cell.error_bound.size(); ++i) {
    const double error = errors[i], bound = cell.error_bound[i];
    if (std::isnan(bound) || error <= bound) continue;
    check.add(fmt::format("is measured, but {} of {}, {} is {}, not within {}", name,
                          one_line(cell.operations[i / cell.arms.size()]), one_line(cell.arms[i % cell.arms.size()]),
                          number(error), number(bound)));
  }
}

void check_cell(const CellRecord& cell, std::vector<std::string>& found) {
  if (!cell.fault.empty()) {  // names its object itself, and the rest of such a cell means nothing
    found.push_back(cell.fault);
    return;
  }
  Check check(found, "/cells/" + cell.id);
  check_problem(check, cell);
  check_status(check, cell);
  check_names(check, "operation", cell.operations);
  check_names(check, "arm", cell.arms);
  if (!check_shape(check, cell) || cell.status != "measured") return;
  check_times(check, cell);
  check_errors(check, cell, "error_frobenius", cell.error_frobenius);
  check_errors(check, cell, "error_max", cell.error_max);
}

}  // namespace

std::vector<std::string> violations(const Record& record) {
  std::vector<std::string> found;
  check_header(record, found);
  std::set<std::string_view> ids;
  for (const auto& cell : record.cells) {
    if (!ids.insert(cell.id).second)
      found.push_back(fmt::format("/cells/{}: there are two cells of this id", one_line(cell.id)));
    check_cell(cell, found);
  }
  return found;
}

}  // namespace megaup::core
