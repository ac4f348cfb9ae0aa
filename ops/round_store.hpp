#pragma once

#include <cstdint>

#include <megaup/core/dtype.hpp>

namespace megaup::ops {

/// to[j] = from[j] rounded to BF16 (nearest, ties to even), for `columns` contiguous elements: the same bits as
/// Bf16::from_float. Cost: 6 bytes of memory traffic an element.
void round_store(core::Bf16* to, const float* from, std::int64_t columns);

}  // namespace megaup::ops
