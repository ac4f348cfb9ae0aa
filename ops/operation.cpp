#include <megaup/ops/operation.hpp>

#include <algorithm>
#include <vector>

namespace megaup::ops {
namespace {

std::vector<const Operation*> by_position() {
  const auto rows = operation_rows();
  std::vector<const Operation*> sorted(rows.begin(), rows.end());
  std::ranges::sort(sorted, {}, &Operation::position);
  return sorted;
}

}  // namespace

std::span<const Operation* const> operations() {
  static const std::vector<const Operation*> sorted = by_position();
  return sorted;
}

const Operation* find_operation(std::string_view name) {
  const auto found = std::ranges::find(operations(), name, &Operation::name);
  return found == operations().end() ? nullptr : *found;
}

}  // namespace megaup::ops
