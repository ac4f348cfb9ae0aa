#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace megaup::core {

/// The version of this source, e.g. "0.1.0".
std::string_view version();

/// The git commit that this library was built from, with "-dirty" behind it when tracked files differed from that commit,
/// or "unknown" when it was built outside a git checkout.
std::string_view git_commit();

/// Compiler and libraries of this build with the versions that CMake found: {"compiler", "GNU 12.2.0"}, {"hdf5", "1.10.8"}, ...
std::span<const std::pair<std::string_view, std::string_view>> build_libraries();

}  // namespace megaup::core
