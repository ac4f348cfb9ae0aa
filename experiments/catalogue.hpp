#pragma once

#include <map>
#include <string>
#include <string_view>

#include <megaup/experiments/diagnostics.hpp>
#include <megaup/experiments/map_reader.hpp>
#include <megaup/experiments/spec.hpp>

namespace megaup::experiments {

using Models = std::map<std::string, Model, std::less<>>;

/// The models of experiments/models, by name. Throws core::Error{usage} if a shipped file is wrong (a test reads them all).
Models catalogue();

/// Reads one file of experiments/models: name, hidden, query_heads, kv_heads, head_dim, optional attention_layers and qkv_bias, each
/// with its source, and notes. Throws core::Error{usage} as parse_spec does.
Model parse_catalogue_model(std::string_view yaml, const std::string& file);

/// Reads a model that a spec spells out: the four sizes, and two optional checks. value_head_dim must equal head_dim (attention with
/// another width for V does not fit the packed operations); qkv_width must be (query_heads + 2*kv_heads)*head_dim.
Model read_inline_model(const YamlNode& node, std::string name, Diagnostics& diagnostics);

}  // namespace megaup::experiments
