#include <megaup/experiments/map_reader.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/core/text.hpp>

namespace megaup::experiments {
namespace {

void refuse(const YamlNode& node, std::string_view key, std::string_view expected, Diagnostics& diagnostics) {
  diagnostics.add(node.where, fmt::format("'{}' must be {}, not {}", key, expected, described(node)));
}

/// Hands an unquoted scalar to `parse` and reports what is wrong with it.
template <class T, class Parse>
std::optional<T> read_plain(const YamlNode& node, std::string_view key, std::string_view expected,
                            Diagnostics& diagnostics, Parse parse) {
  if (node.kind != YamlNode::Kind::scalar || node.quoted) {
    refuse(node, key, expected, diagnostics);
    return {};
  }
  Parsed<T> parsed = parse(node.text);
  if (T* value = std::get_if<0>(&parsed)) return std::move(*value);
  refuse(node, key, std::get<1>(parsed), diagnostics);
  return {};
}

}  // namespace

std::string suggestion(std::string_view name, const std::vector<std::string_view>& known) {
  const auto nearest = core::nearest_name(name, known);
  if (!nearest.empty()) return fmt::format(" (did you mean '{}'?)", nearest);
  return fmt::format("; known: {}", fmt::join(known, ", "));
}

std::optional<std::int64_t> read_integer(const YamlNode& node, std::string_view key, std::int64_t least,
                                         std::int64_t most, Diagnostics& diagnostics) {
  return read_plain<std::int64_t>(node, key, "a whole number", diagnostics,
                                  [&](std::string_view text) { return parse_integer(text, least, most); });
}

std::optional<bool> read_boolean(const YamlNode& node, std::string_view key, Diagnostics& diagnostics) {
  return read_plain<bool>(node, key, "true or false", diagnostics, parse_boolean);
}

std::optional<std::string> read_name(const YamlNode& node, std::string_view key, Diagnostics& diagnostics) {
  if (node.kind != YamlNode::Kind::scalar) {
    refuse(node, key, "a name (in quotes if it is null or ~)", diagnostics);
    return {};
  }
  const auto fault = name_fault(node.text);
  if (!fault) return node.text;
  refuse(node, key, *fault, diagnostics);
  return {};
}

std::optional<std::size_t> read_choice(const YamlNode& node, std::string_view key,
                                       std::span<const std::string_view> values,
                                       std::span<const std::string_view> later, Diagnostics& diagnostics) {
  const std::string expected = fmt::format("{}{}", values.size() > 1 ? "one of " : "", fmt::join(values, ", "));
  if (node.kind != YamlNode::Kind::scalar) {
    refuse(node, key, expected, diagnostics);
    return {};
  }
  const auto found = std::ranges::find(values, std::string_view(node.text));
  if (found != values.end()) return static_cast<std::size_t>(found - values.begin());
  if (std::ranges::find(later, std::string_view(node.text)) != later.end()) {
    diagnostics.add(node.where, fmt::format("'{}: {}' is not built in this version, which has {}", key, node.text,
                                            fmt::join(values, ", ")));
    return {};
  }
  const auto nearest = core::nearest_name(node.text, values);
  diagnostics.add(node.where, fmt::format("'{}' must be {}, not {}{}", key, expected, described(node),
                                          nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest)));
  return {};
}

MapReader::MapReader(const YamlNode& node, std::string what, Diagnostics& diagnostics)
    : node_(node.kind == YamlNode::Kind::map ? &node : nullptr),
      where_(node.where),
      what_(std::move(what)),
      diagnostics_(diagnostics) {
  if (node_ == nullptr) refuse(node, what_, "a map of keys", diagnostics_);
}

const YamlNode* MapReader::find(std::string_view key) {
  if (std::ranges::find(known_, key) == known_.end()) known_.push_back(key);
  if (node_ == nullptr) return nullptr;
  const auto found = std::ranges::find(node_->entries, key, &YamlEntry::key);
  return found == node_->entries.end() ? nullptr : found->value.get();
}

const YamlNode* MapReader::require(std::string_view key) {
  const YamlNode* value = find(key);
  if (value == nullptr && node_ != nullptr)
    diagnostics_.add(where_, fmt::format("key '{}' is missing in '{}'", key, what_));
  return value;
}

TextPosition MapReader::where(std::string_view key) const {
  if (node_ == nullptr) return where_;
  const auto found = std::ranges::find(node_->entries, key, &YamlEntry::key);
  return found == node_->entries.end() ? where_ : found->where;
}

void MapReader::integer(std::string_view key, std::int64_t& target, std::int64_t least, std::int64_t most) {
  if (const YamlNode* value = find(key)) target = read_integer(*value, key, least, most, diagnostics_).value_or(target);
}

void MapReader::boolean(std::string_view key, bool& target) {
  if (const YamlNode* value = find(key)) target = read_boolean(*value, key, diagnostics_).value_or(target);
}

void MapReader::duration(std::string_view key, double& seconds) {
  const YamlNode* value = find(key);
  if (value == nullptr) return;
  seconds =
      read_plain<double>(*value, key, "a number, a space and a unit, without quotes", diagnostics_, parse_duration)
          .value_or(seconds);
}

std::optional<std::size_t> MapReader::choose(std::string_view key, std::span<const std::string_view> values,
                                             std::span<const std::string_view> later) {
  const YamlNode* value = find(key);
  if (value == nullptr) return {};
  return read_choice(*value, key, values, later, diagnostics_);
}

void MapReader::not_built(std::string_view key) {
  refused_.push_back(key);  // and not among the known ones, which are suggested
  if (node_ != nullptr && std::ranges::find(node_->entries, key, &YamlEntry::key) != node_->entries.end())
    diagnostics_.add(where(key), fmt::format("'{}' in '{}' is not built in this version: leave it out", key, what_));
}

void MapReader::finish(const Elsewhere& elsewhere) {
  if (node_ == nullptr) return;
  for (const YamlEntry& entry : node_->entries) {
    const auto is_key = [&](std::string_view known) { return known == entry.key; };
    if (std::ranges::any_of(known_, is_key) || std::ranges::any_of(refused_, is_key)) continue;
    const auto there = core::nearest_name(entry.key, elsewhere.keys);
    const std::string hint = core::nearest_name(entry.key, known_).empty() && !there.empty()
                                 ? fmt::format(" (did you mean '{}'? It belongs into '{}')", there, elsewhere.map)
                                 : suggestion(entry.key, known_);
    diagnostics_.add(entry.where, fmt::format("unknown key {} in '{}'{}", in_quotes(entry.key), what_, hint));
  }
}

}  // namespace megaup::experiments
