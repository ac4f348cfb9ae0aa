#include <megaup/ops/staged_exchange.hpp>

namespace megaup::ops {

StagedExchange::StagedExchange(const Operands& operands, const Context& context, const std::vector<OnlyKind>& parts)
    : ranks_(context.communicator.size()), rows_{0, operands.problem().M(), operands.problem().M()} {
  for (const OnlyKind only : parts) {
    Reorder reorder(operands.problem(), operands.operation().columns, operands.rank(), context.threads, only);
    auto exchange = prepare_exchange(context, reorder, rows_.count, 1);
    parts_.push_back({std::move(reorder), std::move(exchange)});
  }
}

template <class Pack, class Unpack>
void StagedExchange::pipeline(const Pack& pack, const Unpack& unpack) {
  for (std::size_t i = 0; i <= parts_.size(); ++i) {
    if (i < parts_.size()) {
      pack(parts_[i]);
      parts_[i].exchange->start(0);
    }
    if (i > 0) {
      parts_[i - 1].exchange->finish(0);
      unpack(parts_[i - 1]);
    }
  }
}

void StagedExchange::wide_to_heads(const HeadTensors& heads, core::ConstBf16Matrix wide) {
  pipeline([&](Part& part) { part.reorder.wide_to_slabs(send_slabs(*part.exchange, 0), wide, rows_); },
           [&](Part& part) { part.reorder.slabs_to_heads(heads, recv_slabs(*part.exchange, 0), rows_); });
}

void StagedExchange::heads_to_wide(core::Bf16Matrix wide, const HeadTensors& heads) {
  pipeline([&](Part& part) { part.reorder.heads_to_slabs(send_slabs(*part.exchange, 0), heads, rows_); },
           [&](Part& part) { part.reorder.slabs_to_wide(wide, recv_slabs(*part.exchange, 0), rows_); });
}

void StagedExchange::poison() {
  for (Part& part : parts_) ops::poison(*part.exchange, ranks_);
}

std::vector<OnlyKind> one_part() { return {OnlyKind{}}; }

std::vector<OnlyKind> part_for_each_kind(const Operation& op) {
  if (op.columns == core::Columns::query) return {core::Head::query};
  return {core::Head::query, core::Head::key, core::Head::value};
}

std::int64_t staged_exchange_bytes(const Operation& op, const core::Problem& problem) {
  return exchange_memory(problem, core::HeadLayout{problem, op.columns}.slab_width(), problem.M(), 1);
}

}  // namespace megaup::ops
