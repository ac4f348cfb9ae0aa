#include <megaup/ops/operation.hpp>

namespace megaup::ops {

extern constinit const Operation out_fwd_operation;
extern constinit const Operation qkv_dgrad_operation;

constinit const Operation out_fwd_operation{
    .name = "out_fwd",
    .doc = "query heads of every rank's own tokens gathered into A, then Yo = A * Wo^T",
    .kind = Kind::a2a_to_gemm,
    .columns = core::Columns::query,
    .weight_transposed = true,
    .position = 1};

constinit const Operation qkv_dgrad_operation{
    .name = "qkv_dgrad",
    .doc = "dQ, dK and dV gathered into dY in the weight's order, then dX = dY * Wqkv",
    .kind = Kind::a2a_to_gemm,
    .columns = core::Columns::qkv,
    .weight_transposed = false,
    .position = 3};

}  // namespace megaup::ops
