#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <megaup/experiments/spec.hpp>

/// What is known about each key of a cell: one table for reading, planning and printing.
namespace megaup::experiments {

enum class CellKeyKind : std::uint8_t { model, size, choice, boolean };

struct CellKeyInfo {
  std::string_view name;
  CellKeyKind kind;
  std::span<const std::string_view> choices;  ///< of a choice: what this version has; the first one is the default
  std::span<const std::string_view> later;    ///< of a choice: what it refuses as not built
};

/// One entry a key, in the order of CellKey.
std::span<const CellKeyInfo, kCellKeys> cell_keys();

constexpr std::size_t index(CellKey key) { return static_cast<std::size_t>(key); }

/// The keys that say the same in another way and cannot stand beside this one: model and its four sizes, tokens_per_rank and
/// sequence_length.
std::span<const CellKey> alternatives(CellKey key);

/// Sets a key and takes its alternatives away: a product's key replaces the workload's.
void set(CellValues& values, CellKey key, CellValue value);

}  // namespace megaup::experiments
