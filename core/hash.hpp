#pragma once

#include <string>
#include <string_view>

namespace megaup::core {

/// SHA-256 of the bytes as 64 lower-case hexadecimal digits. Throws Error{environment} when the crypto library refuses (FIPS set-ups).
std::string sha256(std::string_view bytes);

}  // namespace megaup::core
