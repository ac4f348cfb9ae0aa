#pragma once

#include <string_view>

namespace megaup::core {

/// A file of the source tree that the program carries inside itself (cmake/megaup_embed.cmake).
struct EmbeddedFile {
  std::string_view name;   ///< without its folder, e.g. "quickstart.yaml"
  std::string_view bytes;  ///< unchanged; a NUL follows the last byte
};

}  // namespace megaup::core
