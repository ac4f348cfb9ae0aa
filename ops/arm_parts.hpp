#pragma once

#include <memory>
#include <span>
#include <string>

#include <megaup/ops/arm.hpp>
#include <megaup/ops/host_gemm.hpp>
#include <megaup/ops/reorder.hpp>

/// Parts that several arms are built of.
namespace megaup::ops {

/// The GEMM of an operation with the provider that the context asks for. `shard_columns` are the shards of A in the
/// order in which they are accumulated; empty = one shard of all k columns. Ranks: collective.
std::unique_ptr<HostGemm> prepare_gemm(const Operands& operands, const Context& context,
                                       std::span<const std::int64_t> shard_columns = {});
/// Bytes that prepare_gemm allocates; for `auto` the largest answer of all providers.
std::int64_t gemm_bytes(const Operation& op, const core::Problem& problem, std::string_view provider,
                        std::span<const std::int64_t> shard_columns = {});

/// Bytes of an exchange of slabs: send and receive buffers of P slabs each, for every slot.
std::int64_t exchange_memory(const core::Problem& problem, std::int64_t slab_columns, std::int64_t rows, int slots);
std::unique_ptr<comm::Exchange> prepare_exchange(const Context& context, const Reorder& reorder, std::int64_t rows,
                                                 int slots);
/// Fills the send buffers, and through an exchange the receive buffers, with 0xFF. Ranks: collective.
void poison(comm::Exchange& exchange, int ranks);

inline core::Bf16* send_slabs(const comm::Exchange& exchange, int slot) {
  return reinterpret_cast<core::Bf16*>(exchange.send(slot));
}
inline const core::Bf16* recv_slabs(const comm::Exchange& exchange, int slot) {
  return reinterpret_cast<const core::Bf16*>(exchange.recv(slot));
}

/// The wide matrix [M, W] between GEMM and exchange, packed.
class WideBuffer {
 public:
  WideBuffer(const Operands& operands, std::int64_t rows);
  core::Bf16Matrix matrix() const { return matrix_; }
  void poison();
  static std::int64_t bytes(const Operation& op, const core::Problem& problem, std::int64_t rows);

 private:
  core::Buffer memory_;
  core::Bf16Matrix matrix_;
};

}  // namespace megaup::ops
