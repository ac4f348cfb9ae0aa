#pragma once

#include <cstddef>

#include <megaup/core/record.hpp>

namespace megaup::experiments {

/// The record as if only its first `blocks` blocks had been planned. Everything else stays.
core::CellRecord first_blocks(const core::CellRecord& cell, std::size_t blocks);

}  // namespace megaup::experiments
