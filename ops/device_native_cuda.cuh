#pragma once

#include <megaup/ops/cublaslt_cuda.cuh>
#include <megaup/ops/device_parts_cuda.cuh>
#include <megaup/ops/staged_exchange.hpp>

/// The native arms on a device, for both kinds of operation: separate steps in one stream, no fused kernel.
namespace megaup::ops {

/// GEMM by cuBLASLt, one-pass pack and unpack, and an exchange of one part (native_packed) or of one for each kind of
/// head (native_pipelined), as on the host (ops/staged_exchange.hpp).
std::unique_ptr<PreparedOperation> prepare_device_native(Operands& operands, const Context& context,
                                                         const std::vector<OnlyKind>& parts, comm::Transport transport);
std::int64_t device_native_bytes(const Operation& op, const core::Problem& problem, const std::vector<OnlyKind>& parts);

/// The GEMM in row chunks, the exchange of one beside the GEMM of the next.
std::unique_ptr<PreparedOperation> prepare_device_chunked(Operands& operands, const Context& context,
                                                          comm::Transport transport);
std::int64_t device_chunked_bytes(const Operation& op, const core::Problem& problem);

/// The parts alone.
std::unique_ptr<PreparedOperation> prepare_device_gemm_only(Operands& operands, const Context& context);
std::unique_ptr<PreparedOperation> prepare_device_exchange_only(Operands& operands, const Context& context);
std::unique_ptr<PreparedOperation> prepare_device_reorder_only(Operands& operands, const Context& context);
std::int64_t device_gemm_only_bytes(const Operation& op, const core::Problem& problem);
std::int64_t device_exchange_only_bytes(const Operation& op, const core::Problem& problem);
std::int64_t device_reorder_only_bytes(const Operation& op, const core::Problem& problem);

/// The GEMM of an operation between the hidden side and rows [first, first + wide.rows) of the wide matrix.
LtGemm device_gemm(const Operands& operands, core::Bf16Matrix wide, std::int64_t first = 0);

}  // namespace megaup::ops
