#pragma once

#include <megaup/experiments/diagnostics.hpp>
#include <megaup/experiments/spec.hpp>
#include <megaup/experiments/yaml_tree.hpp>

namespace megaup::experiments {

/// Reads the map `backend`. What needs a device is refused without one; solo makes share_device true.
Backend read_backend(const YamlNode& node, const KnownNames& known, Diagnostics& diagnostics);

}  // namespace megaup::experiments
