#pragma once

#include <megaup/core/record.hpp>

namespace megaup::core::detail {

constexpr std::size_t kLongestText =
    60000;  ///< bytes of a text attribute: HDF5 ends the messages of an object header at 64 KiB

/// Why the vectors of a cell do not fit its axes. Every one but the times of a measured cell may be empty.
Reason wrong_sizes(const CellRecord& cell);

/// Why a record cannot be written as it is: one line naming the object and what to change.
Reason unwritable(const Record& record);

}  // namespace megaup::core::detail
