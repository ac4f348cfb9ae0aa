#include <megaup/ops/operation.hpp>

namespace megaup::ops {

extern constinit const Operation qkv_fwd_operation;
extern constinit const Operation out_dgrad_operation;

constinit const Operation qkv_fwd_operation{
    {core::kQkvFwd}, "Y = X * Wqkv^T, then Q, K and V of every token to the ranks of their heads", 0};

constinit const Operation out_dgrad_operation{
    {core::kOutDgrad}, "dA = dYo * Wo, then scattered as the query heads of qkv_fwd", 2};

}  // namespace megaup::ops
