#pragma once

#include <megaup/core/error.hpp>

namespace megaup::ops {

/// Why the fused kernels cannot run on a device of this compute capability, naming its architecture; nothing if they can.
/// Their tensor core instructions exist on 9.0 alone.
core::Reason no_fused_kernels(int major, int minor);

}  // namespace megaup::ops
