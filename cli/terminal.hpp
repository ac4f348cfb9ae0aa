#pragma once

#include <cstddef>

namespace megaup::cli {

/// Columns of the terminal on stdout; COLUMNS wins over what the terminal says. 0 (no limit) if stdout is no terminal and COLUMNS is not set.
std::size_t output_width();

}  // namespace megaup::cli
