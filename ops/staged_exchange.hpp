#pragma once

#include <memory>
#include <vector>

#include <megaup/ops/arm_parts.hpp>
#include <megaup/ops/reorder.hpp>

namespace megaup::ops {

/// The exchange of a native arm with its reorders: pack in one pass, exchange, unpack in one pass. Of one part (all
/// heads in one exchange) or of one part for each kind of head (Q, K, V), in which case part i is packed while part i-1
/// is under way. Ranks: all ranks of the group call together. No allocation after construction.
class StagedExchange {
 public:
  StagedExchange(const Operands& operands, const Context& context, const std::vector<OnlyKind>& parts);

  /// gemm_to_a2a: rows of this rank's wide matrix to the tensors of their ranks.
  void wide_to_heads(const HeadTensors& heads, core::ConstBf16Matrix wide);
  /// a2a_to_gemm: tensors to the rows of the wide matrix of their rank.
  void heads_to_wide(core::Bf16Matrix wide, const HeadTensors& heads);
  void poison();

  std::int64_t exchanges() const { return static_cast<std::int64_t>(parts_.size()); }

 private:
  struct Part {
    Reorder reorder;
    std::unique_ptr<comm::Exchange> exchange;
  };
  /// pack(part) and unpack(part) of all parts with the exchange between them.
  template <class Pack, class Unpack>
  void pipeline(const Pack& pack, const Unpack& unpack);

  int ranks_;
  RowRange rows_;
  std::vector<Part> parts_;
};

/// All heads in one exchange.
std::vector<OnlyKind> one_part();
/// One exchange for each kind of head that the operation moves.
std::vector<OnlyKind> part_for_each_kind(const Operation& op);
/// Bytes of send and receive buffers: together the same for any division into parts.
std::int64_t staged_exchange_bytes(const Operation& op, const core::Problem& problem);

}  // namespace megaup::ops
