#pragma once

#include <string_view>
#include <vector>

#include <megaup/ops/operation.hpp>

namespace megaup::experiments {

/// What one launch of an operation of a spec runs, in this order: the operation itself; all of the table, as a training step meets them,
/// for kSequence; nothing for a name that is not there (a test's own).
std::vector<const ops::Operation*> parts(std::string_view operation);

}  // namespace megaup::experiments
