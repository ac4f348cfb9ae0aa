#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <megaup/experiments/diagnostics.hpp>
#include <megaup/experiments/scalar.hpp>
#include <megaup/experiments/yaml_tree.hpp>

namespace megaup::experiments {

/// Reads the keys of one map. Asking for a key makes it known; finish() refuses every key that nobody asked for. What is wrong goes to
/// the diagnostics, and the target keeps its value.
class MapReader {
 public:
  /// `what` names the map in messages ("measure"). A node that is not a map is reported once and then read as an empty one.
  MapReader(const YamlNode& node, std::string what, Diagnostics& diagnostics);

  /// The value of a key, or null if it is absent.
  const YamlNode* find(std::string_view key);
  /// The same, and an error if it is absent.
  const YamlNode* require(std::string_view key);
  /// Where a key that is there is written.
  TextPosition where(std::string_view key) const;

  void integer(std::string_view key, std::int64_t& target, std::int64_t least, std::int64_t most);
  void boolean(std::string_view key, bool& target);
  void duration(std::string_view key, double& seconds);
  /// One of `values`; those of `later` are refused as not built in this version. The index into `values` goes to target.
  template <class Enum>
  void choice(std::string_view key, Enum& target, std::initializer_list<std::string_view> values,
              std::initializer_list<std::string_view> later = {}) {
    if (const auto index = choose(key, {values.begin(), values.size()}, {later.begin(), later.size()}))
      target = static_cast<Enum>(*index);
  }
  /// A key that exists in the design but not in this version: refused by name if given.
  void not_built(std::string_view key);

  /// Reports unknown keys with the nearest known one. Call it last. Keys of `elsewhere` are known, but to the map of that name.
  struct Elsewhere {
    std::string_view map;
    std::vector<std::string_view> keys;
  };
  void finish(const Elsewhere& elsewhere = {});
  const std::string& what() const { return what_; }
  bool readable() const { return node_ != nullptr; }

 private:
  std::optional<std::size_t> choose(std::string_view key, std::span<const std::string_view> values,
                                    std::span<const std::string_view> later);

  const YamlNode* node_;
  TextPosition where_;
  std::string what_;
  Diagnostics& diagnostics_;
  std::vector<std::string_view> known_;
  std::vector<std::string_view> refused_;  ///< known to be of a later version
};

/// Readers of one scalar; `key` names it in messages. Nothing is returned after an error.
std::optional<std::int64_t> read_integer(const YamlNode& node, std::string_view key, std::int64_t least,
                                         std::int64_t most, Diagnostics& diagnostics);
std::optional<bool> read_boolean(const YamlNode& node, std::string_view key, Diagnostics& diagnostics);
std::optional<std::string> read_name(const YamlNode& node, std::string_view key, Diagnostics& diagnostics);
/// Index of the value in `values`.
std::optional<std::size_t> read_choice(const YamlNode& node, std::string_view key,
                                       std::span<const std::string_view> values,
                                       std::span<const std::string_view> later, Diagnostics& diagnostics);

/// " (did you mean 'x'?)" if a name is near, else "; known: x, y, z".
std::string suggestion(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace megaup::experiments
