#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <megaup/ops/gate_tensors.hpp>

/// The bit-for-bit half of the gate. The weight is one-hot, so that every element of the output is exactly one element
/// of the input, and the inputs are codes: a token pass (each row its own code) and a column pass (each column its
/// own). An output element that shows the right token and the right column can be no other element. docs/operations.md
/// proves that the passes miss nothing.
namespace megaup::ops {

struct StructurePass {
  bool tokens;         ///< token code, else column code
  std::int64_t digit;  ///< which digit of the index the codes carry: there are more indices than finite 16-bit patterns
  std::int64_t map;    ///< which columns the one-hot weight picks
  std::int64_t replica;  ///< a2a_to_gemm: which copy of a replicated KV head carries the code, the others being zero
};

std::vector<StructurePass> structure_passes(const Operation& op, const core::Problem& problem);
/// Writes one-hot weight and coded inputs of this rank; gaps between rows are poisoned.
void fill_structure(Operands& operands, const StructurePass& pass);
/// Compares every element of what this rank's launch wrote into `set`. Empty = as expected, else the first difference.
/// Not collective.
std::string structure_difference(const Operands& operands, int set, const StructurePass& pass);

/// Distinct finite normal BF16 values: 254 exponents, 128 fractions, 2 signs.
constexpr std::int64_t kCodes = 254 * 128 * 2;
constexpr core::Bf16 code(std::int64_t index) {
  const std::int64_t i = index % (kCodes / 2);
  return {static_cast<std::uint16_t>((index / (kCodes / 2) % 2) << 15 | (1 + i / 128) << 7 | i % 128)};
}

}  // namespace megaup::ops
