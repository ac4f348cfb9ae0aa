#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <megaup/experiments/diagnostics.hpp>

/// YAML as a tree in which every scalar is text: yaml-cpp parses, but types nothing.
namespace megaup::experiments {

struct YamlNode;
using YamlNodePtr =
    std::shared_ptr<const YamlNode>;  // shared: an alias is the anchored node itself, with its own place

struct YamlEntry {
  std::string key;
  TextPosition where;  ///< of the key
  YamlNodePtr value;
};

struct YamlNode {
  enum class Kind : std::uint8_t { null, scalar, list, map };
  Kind kind = Kind::null;
  TextPosition where;
  std::string text;     ///< of a scalar
  bool quoted = false;  ///< in quotes, or a block scalar: never a number nor a boolean
  std::vector<YamlNodePtr> items;
  std::vector<YamlEntry> entries;  ///< keys are unique
  std::int64_t size = 1;           ///< nodes below and including this one, each alias counted in full
};

/// Parses one document of at most 1 MiB. Everything that a spec may not hold goes to `diagnostics`: bytes that are not UTF-8, control
/// characters, tabs as indentation, an empty file, a second document, duplicate and merge keys, tags, nesting beyond 32 levels, aliases
/// that expand to more than a million values, and what yaml-cpp refuses. Returns null when no tree could be made.
YamlNodePtr read_yaml(std::string_view text, Diagnostics& diagnostics);

/// What a node is, in the words of an error message: "a list", "a map", "text 'abc'", "nothing".
std::string described(const YamlNode& node);

/// Checks the bytes before the parser sees them: encoding, control characters, tabs as indentation. False if they must not be parsed.
bool check_yaml_text(std::string_view text, Diagnostics& diagnostics);

}  // namespace megaup::experiments
