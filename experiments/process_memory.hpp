#pragma once

#include <cstdint>
#include <optional>

namespace megaup::experiments {

/// Resident memory of this process now, in bytes; nothing where the system does not tell.
std::optional<std::int64_t> resident_bytes();

/// Highest resident memory since the last reset, in bytes.
std::optional<std::int64_t> peak_resident_bytes();

/// Starts the peak anew from the present; false where the system does not allow it (the peak then includes earlier cells).
bool reset_peak_resident();

}  // namespace megaup::experiments
