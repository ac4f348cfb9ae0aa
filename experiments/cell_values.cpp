#include <megaup/experiments/cell_values.hpp>

#include <array>
#include <utility>

#include <fmt/format.h>

namespace megaup::experiments {
namespace {

constexpr std::array<std::string_view, 1> kDtypes{"bf16"};
constexpr std::array<std::string_view, 4> kLaterDtypes{"fp32", "fp16", "fp8", "nvfp4"};
constexpr std::array<std::string_view, 3> kFormats{"sbhd", "bshd", "thd"};
constexpr std::array<std::string_view, 2> kOrders{"contiguous", "dual_chunk"};
constexpr std::array<std::string_view, 2> kWeights{"grouped", "concatenated"};

constexpr std::array<CellKeyInfo, kCellKeys> kInfo{{
    {"model", CellKeyKind::model, {}, {}},
    {"hidden", CellKeyKind::size, {}, {}},
    {"query_heads", CellKeyKind::size, {}, {}},
    {"kv_heads", CellKeyKind::size, {}, {}},
    {"head_dim", CellKeyKind::size, {}, {}},
    {"cp", CellKeyKind::size, {}, {}},
    {"tokens_per_rank", CellKeyKind::size, {}, {}},
    {"sequence_length", CellKeyKind::size, {}, {}},
    {"batch", CellKeyKind::size, {}, {}},
    {"dtype", CellKeyKind::choice, kDtypes, kLaterDtypes},
    {"format", CellKeyKind::choice, kFormats, {}},
    {"sequence_order", CellKeyKind::choice, kOrders, {}},
    {"qkv_weight", CellKeyKind::choice, kWeights, {}},
    {"kv_replication", CellKeyKind::boolean, {}, {}},
}};

constexpr std::array kModel{CellKey::model};
constexpr std::array kSizes{CellKey::hidden, CellKey::query_heads, CellKey::kv_heads, CellKey::head_dim};
constexpr std::array kTokens{CellKey::tokens_per_rank};
constexpr std::array kSequenceLength{CellKey::sequence_length};

}  // namespace

std::span<const CellKeyInfo, kCellKeys> cell_keys() { return kInfo; }
std::string_view name(CellKey key) { return kInfo[index(key)].name; }

std::string text(const CellValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
  return std::get<std::string>(value);
}

std::span<const CellKey> alternatives(CellKey key) {
  switch (key) {
    case CellKey::model: return kSizes;
    case CellKey::hidden:
    case CellKey::query_heads:
    case CellKey::kv_heads:
    case CellKey::head_dim: return kModel;
    case CellKey::tokens_per_rank: return kSequenceLength;
    case CellKey::sequence_length: return kTokens;
    default: return {};
  }
}

void set(CellValues& values, CellKey key, CellValue value) {
  for (const CellKey other : alternatives(key)) values[index(other)].reset();
  values[index(key)] = std::move(value);
}

}  // namespace megaup::experiments
