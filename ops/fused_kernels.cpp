#include <megaup/ops/fused_kernels.hpp>

#include <fmt/format.h>

namespace megaup::ops {

core::Reason no_fused_kernels(int major, int minor) {
  if (major == 9 && minor == 0) return {};
  // From 9.0 on the instructions of the tensor cores belong to one architecture each, whose name ends in a.
  return fmt::format("no kernel for sm_{}{}{} yet: the fused kernels are for the tensor cores of sm_90a", major, minor,
                     major >= 9 ? "a" : "");
}

}  // namespace megaup::ops
