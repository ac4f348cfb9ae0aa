#include <megaup/ops/operation.hpp>

namespace megaup::ops {

extern constinit const Operation out_fwd_operation;
extern constinit const Operation qkv_dgrad_operation;

constinit const Operation out_fwd_operation{
    {core::kOutFwd}, "query heads of every rank's own tokens gathered into A, then Yo = A * Wo^T", 1};

constinit const Operation qkv_dgrad_operation{
    {core::kQkvDgrad}, "dQ, dK and dV gathered into dY in the weight's order, then dX = dY * Wqkv", 3};

}  // namespace megaup::ops
