#include <megaup/experiments/sequence.hpp>

#include <megaup/experiments/spec.hpp>

namespace megaup::experiments {

std::vector<const ops::Operation*> parts(std::string_view operation) {
  if (operation == kSequence) return {ops::operations().begin(), ops::operations().end()};
  if (const auto* found = ops::find_operation(operation)) return {found};
  return {};
}

}  // namespace megaup::experiments
