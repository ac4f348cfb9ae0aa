#include <megaup/experiments/cell_reader.hpp>

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/experiments/cell_values.hpp>

namespace megaup::experiments {
namespace {

constexpr std::int64_t kMaxSize = 1'000'000'000'000;

/// The items of a list, or the one value itself.
std::vector<const YamlNode*> one_or_more(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::list) return {&node};
  std::vector<const YamlNode*> items;
  for (const auto& item : node.items) items.push_back(item.get());
  return items;
}

bool has(const CellProduct& product, CellKey key) {
  return std::ranges::find(product.axes, key, &Axis::key) != product.axes.end();
}

/// The workload with the first value of each axis: enough to see which keys a product's cells have.
CellValues first_cell(const CellValues& workload, const CellProduct& product) {
  CellValues values = workload;
  for (const Axis& axis : product.axes)
    if (!axis.values.empty()) set(values, axis.key, axis.values.front());
  return values;
}

}  // namespace

CellReader::CellReader(Spec& spec, const Models& models, Diagnostics& diagnostics)
    : spec_(spec), models_(models), diagnostics_(diagnostics) {}

std::optional<CellValue> CellReader::model(const YamlNode& node) {
  const auto model_name = read_name(node, "model", diagnostics_);
  if (!model_name) return {};
  const auto found = models_.find(*model_name);
  if (found == models_.end()) {
    std::vector<std::string_view> names;
    for (const auto& [known, sizes] : models_) names.push_back(known);
    diagnostics_.add(node.where,
                     fmt::format("unknown model {}{}", in_quotes(*model_name), suggestion(*model_name, names)));
    return {};
  }
  spec_.models.insert(*found);
  return *model_name;
}

std::optional<CellValue> CellReader::value(const YamlNode& node, CellKey key) {
  const CellKeyInfo& info = cell_keys()[index(key)];
  switch (info.kind) {
    case CellKeyKind::model: return model(node);
    case CellKeyKind::size: return read_integer(node, info.name, 1, kMaxSize, diagnostics_);
    case CellKeyKind::boolean: return read_boolean(node, info.name, diagnostics_);
    case CellKeyKind::choice: break;
  }
  const auto chosen = read_choice(node, info.name, info.choices, info.later, diagnostics_);
  if (!chosen) return {};
  return std::string(info.choices[*chosen]);
}

Axis CellReader::axis(const YamlNode& node, CellKey key) {
  Axis axis{key, {}};
  if (node.kind == YamlNode::Kind::list && node.items.empty())
    diagnostics_.add(node.where, fmt::format("'{}' is an empty list: it would make no cell", name(key)));
  std::map<CellValue, int> lines;
  for (const YamlNode* item : one_or_more(node)) {
    const auto item_value = value(*item, key);
    if (!item_value) continue;
    const auto [first, added] = lines.try_emplace(*item_value, item->where.line + 1);
    if (added)
      axis.values.push_back(*item_value);
    else
      diagnostics_.add(item->where, fmt::format("'{}' has the value {} twice (already on line {})", name(key),
                                                text(*item_value), first->second));
  }
  return axis;
}

CellProduct CellReader::product(const YamlNode& node, const std::string& what) {
  CellProduct product{node.where.line + 1, {}};
  MapReader reader(node, what, diagnostics_);
  for (std::size_t i = 0; i < kCellKeys; ++i) {
    const auto key = static_cast<CellKey>(i);
    if (const YamlNode* found = reader.find(name(key))) product.axes.push_back(axis(*found, key));
  }
  if (node.kind == YamlNode::Kind::map && node.entries.empty())
    diagnostics_.add(node.where, fmt::format("'{}' has no keys: give at least one", what));
  check_alternatives(reader, product);
  reader.finish({"measure", {"warmup", "observations", "pairs", "cadence", "duty", "cache", "cell_timeout"}});
  // The last axis varies fastest, so the axes keep the order of the file.
  std::ranges::sort(product.axes, {}, [&](const Axis& a) { return reader.where(name(a.key)); });
  return product;
}

void CellReader::check_alternatives(const MapReader& reader, const CellProduct& product) {
  for (const Axis& axis : product.axes)
    for (const CellKey other : alternatives(axis.key))
      if (has(product, other) && reader.where(name(other)) < reader.where(name(axis.key)))
        diagnostics_.add(reader.where(name(axis.key)),
                         fmt::format("'{}' cannot stand beside '{}' (line {}): give one of them", name(axis.key),
                                     name(other), reader.where(name(other)).line + 1));
}

void CellReader::check_complete(const CellProduct& product, const YamlNode& node, const std::string& what) {
  if (node.kind != YamlNode::Kind::map) return;
  const CellValues cell = first_cell(spec_.workload, product);
  // A key whose value was refused is there for this purpose: one error is enough.
  const auto missing = [&](CellKey key) { return !cell[index(key)] && !has(product, key) && !has(workload_, key); };
  std::vector<std::string_view> absent;
  if (missing(CellKey::model)) {
    std::vector<std::string_view> sizes;
    for (const CellKey key : alternatives(CellKey::model))
      if (missing(key)) sizes.push_back(name(key));
    if (sizes.size() == alternatives(CellKey::model).size())
      absent.push_back("model");
    else
      absent.insert(absent.end(), sizes.begin(), sizes.end());
  }
  for (const CellKey key : {CellKey::cp, CellKey::batch})
    if (missing(key)) absent.push_back(name(key));
  if (missing(CellKey::tokens_per_rank) && missing(CellKey::sequence_length))
    absent.push_back("tokens_per_rank (or sequence_length)");
  if (!absent.empty())
    diagnostics_.add(node.where, fmt::format("the cells of '{}' lack {}: give it here or in 'workload'", what,
                                             fmt::join(absent, ", ")));
}

void CellReader::workload(const YamlNode& node) {
  workload_ = product(node, "workload");
  MapReader reader(node, "workload", diagnostics_);
  for (const Axis& axis : workload_.axes) {
    const YamlNode* found = reader.find(name(axis.key));
    if (found->kind == YamlNode::Kind::list)
      diagnostics_.add(found->where,
                       fmt::format("'{}' in 'workload' is one value for all cells: lists belong into 'matrix' or "
                                   "'include'",
                                   name(axis.key)));
    else if (!axis.values.empty())
      set(spec_.workload, axis.key, axis.values.front());
  }
}

void CellReader::matrix(const YamlNode& node) {
  spec_.matrix = product(node, "matrix");
  const MapReader reader(node, "matrix", diagnostics_);
  for (const Axis& axis : spec_.matrix->axes) {
    std::vector<CellKey> same(alternatives(axis.key).begin(), alternatives(axis.key).end());
    same.push_back(axis.key);
    for (const CellKey key : same)
      if (spec_.workload[index(key)])
        diagnostics_.add(
            reader.where(name(axis.key)),
            fmt::format("'{}' in 'matrix' replaces '{}' of 'workload': give one of them", name(axis.key), name(key)));
  }
  check_complete(*spec_.matrix, node, "matrix");
}

void CellReader::include(const YamlNode& node) {
  int number = 0;
  if (node.kind != YamlNode::Kind::list)
    diagnostics_.add(node.where, fmt::format("'include' must be a list of maps, not {}", described(node)));
  for (const auto& item : node.items) {
    const std::string what = fmt::format("include {}", ++number);
    spec_.include.push_back(product(*item, what));
    check_complete(spec_.include.back(), *item, what);
  }
}

void CellReader::exclude(const YamlNode& node) {
  int number = 0;
  if (node.kind != YamlNode::Kind::list)
    diagnostics_.add(node.where, fmt::format("'exclude' must be a list of maps, not {}", described(node)));
  for (const auto& item : node.items) spec_.exclude.push_back(product(*item, fmt::format("exclude {}", ++number)));
}

void CellReader::fill_defaults() {
  for (std::size_t i = 0; i < kCellKeys; ++i) {
    const CellKeyInfo& info = cell_keys()[i];
    auto& stated = spec_.workload[i];
    if (stated) continue;
    if (info.kind == CellKeyKind::choice) stated = std::string(info.choices.front());
    if (info.kind == CellKeyKind::boolean) stated = false;
  }
}

}  // namespace megaup::experiments
