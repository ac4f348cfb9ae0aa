#include <megaup/ops/operation.hpp>

namespace megaup::ops {

extern constinit const Operation qkv_fwd_operation;
extern constinit const Operation out_dgrad_operation;

constinit const Operation qkv_fwd_operation{
    .name = "qkv_fwd",
    .doc = "Y = X * Wqkv^T, then Q, K and V of every token to the ranks of their heads",
    .kind = Kind::gemm_to_a2a,
    .columns = core::Columns::qkv,
    .weight_transposed = true,
    .position = 0};

constinit const Operation out_dgrad_operation{.name = "out_dgrad",
                                              .doc = "dA = dYo * Wo, then scattered as the query heads of qkv_fwd",
                                              .kind = Kind::gemm_to_a2a,
                                              .columns = core::Columns::query,
                                              .weight_transposed = false,
                                              .position = 2};

}  // namespace megaup::ops
