#include <megaup/core/record_refusal.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <megaup/core/text.hpp>

namespace megaup::core::detail {
namespace {

constexpr std::array kRootNames{"format", "format_version", "created", "megaup_version", "git", "source", "fabric"};
constexpr std::array kCellNames{"model",          "status",     "reason", "dtype",          "format",
                                "sequence_order", "qkv_weight", "hidden", "query_heads",    "kv_heads",
                                "head_dim",       "cp",         "batch",  "tokens_per_rank"};

/// '/' would make nested groups, "." and ".." mean something to HDF5 or to a file system, and a null byte ends a name.
Reason bad_name(std::string_view what, const std::string& name) {
  if (name.empty()) return fmt::format("{} has an empty name", what);
  if (name == "." || name == "..") return fmt::format("{} cannot be called '{}'", what, name);
  if (name.find('/') != std::string::npos)
    return fmt::format("{} '{}' cannot have '/' in its name", what, one_line(name));
  if (name.find('\0') != std::string::npos)
    return fmt::format("{} '{}' cannot have a null byte in its name", what, one_line(name));
  if (!is_utf8(name)) return fmt::format("{} '{}' has a name that is not UTF-8", what, one_line(name));
  return {};
}

Reason bad_text(std::string_view object, std::string_view name, const std::string& text, std::size_t longest) {
  if (const auto at = text.find('\0'); at != std::string::npos)
    return fmt::format("{}: '{}' has a null byte at {}, where fixed-length text would end", object, name, at);
  if (text.size() > longest)
    return fmt::format("{}: '{}' is {} bytes long, and may have {}", object, name, text.size(), longest);
  return {};
}

template <std::size_t n>
Reason bad_attributes(std::string_view object, const Attributes& attributes, const std::array<const char*, n>& taken) {
  for (const auto& [name, value] : attributes) {
    if (name.empty() || name.find('\0') != std::string::npos)
      return fmt::format("{}: an attribute has no usable name ('{}')", object, one_line(name));
    if (std::find(taken.begin(), taken.end(), name) != taken.end())
      return fmt::format("{}: '{}' has a member of its own and cannot be extra", object, name);
    if (const auto* text = std::get_if<std::string>(&value))
      if (auto why = bad_text(object, name, *text, kLongestText)) return why;
  }
  return {};
}

Reason bad_cell(const CellRecord& cell) {
  if (auto why = bad_name("a cell", cell.id)) return why;
  const auto object = "/cells/" + cell.id;
  if (!cell.fault.empty())
    return fmt::format("{}: was read with a fault ({}): leave it out", object, one_line(cell.fault));
  const std::pair<const char*, const std::string&> texts[] = {{"model", cell.model},
                                                              {"status", cell.status},
                                                              {"dtype", cell.dtype},
                                                              {"format", cell.format},
                                                              {"sequence_order", cell.sequence_order},
                                                              {"qkv_weight", cell.qkv_weight}};
  for (const auto& [name, text] : texts)
    if (auto why = bad_text(object, name, text, kLongestText)) return why;
  if (auto why = bad_text(object, "reason", cell.reason, std::string::npos)) return why;  // a long one is cut
  for (const auto* names : {&cell.operations, &cell.arms})
    for (const auto& name : *names)
      if (auto why = bad_text(object, names == &cell.arms ? "arm" : "operation", name, kLongestText)) return why;
  if (auto why = bad_attributes(object, cell.extra, kCellNames)) return why;
  if (auto why = wrong_sizes(cell)) return fmt::format("{}: {}", object, *why);
  return {};
}

Reason bad_header(const Record& record) {
  const std::pair<const char*, const std::string&> texts[] = {{"created", record.created},
                                                              {"megaup_version", record.megaup_version},
                                                              {"git", record.git},
                                                              {"source", record.source},
                                                              {"fabric", record.fabric},
                                                              {"sha256_yaml", record.spec_sha256_yaml},
                                                              {"sha256_resolved", record.spec_sha256_resolved}};
  for (const auto& [name, text] : texts)
    if (auto why = bad_text("/", name, text, kLongestText)) return why;
  if (auto why = bad_text("/spec", "yaml", record.spec_yaml, std::string::npos)) return why;
  if (auto why = bad_text("/spec", "resolved", record.spec_resolved, std::string::npos)) return why;
  if (auto why = bad_attributes("/", record.extra, kRootNames)) return why;
  if (!record.environment.contains("host"))
    return "/environment: has no 'host': without it nobody knows where the times were taken";
  for (const auto& [name, text] : record.environment) {
    if (auto why = bad_name("/environment: an entry", name)) return why;
    if (auto why = bad_text("/environment", name, text, std::string::npos)) return why;
  }
  return {};
}

}  // namespace

Reason wrong_sizes(const CellRecord& cell) {
  if (cell.observations < 0 || cell.ranks < 0)
    return fmt::format("observations {} and ranks {} cannot be negative", cell.observations, cell.ranks);
  const auto n_arms = cell.operations.size() * cell.arms.size();
  const auto n_blocks = n_arms * cell.order.size();
  const auto n_times = n_blocks * static_cast<std::size_t>(cell.observations) * static_cast<std::size_t>(cell.ranks);
  struct Part {
    const char* name;
    std::size_t size, expected;
  };
  std::vector<Part> parts{{"latency", cell.latency.size(), n_times},
                          {"started", cell.started.size(), n_blocks},
                          {"error_frobenius", cell.error_frobenius.size(), n_arms},
                          {"error_max", cell.error_max.size(), n_arms},
                          {"error_bound", cell.error_bound.size(), n_arms}};
  for (const auto& quantity : kDeviceQuantities)
    parts.push_back({quantity.name, (cell.device.*quantity.values).size(), n_blocks * static_cast<std::size_t>(cell.ranks)});
  for (const auto& [name, size, expected] : parts)
    if (size != 0 && size != expected)
      return fmt::format(
          "{} has {} values, and its axes (operations {}, arms {}, blocks {}, observations {}, ranks {}) make {}", name,
          size, cell.operations.size(), cell.arms.size(), cell.order.size(), cell.observations, cell.ranks, expected);
  if (cell.latency.empty() && cell.status == "measured") return "its status is 'measured', but it has no times";
  return {};
}

Reason unwritable(const Record& record) {
  if (auto why = bad_header(record)) return why;
  std::set<std::string_view> ids;
  for (const auto& cell : record.cells) {
    if (auto why = bad_cell(cell)) return why;
    if (!ids.insert(cell.id).second) return fmt::format("/cells/{}: there are two cells of this id", cell.id);
  }
  return {};
}

}  // namespace megaup::core::detail
