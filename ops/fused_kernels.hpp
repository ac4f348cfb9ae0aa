#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <megaup/core/error.hpp>

namespace megaup::ops {

/// The architecture that a fused kernel is written for: the instructions of its tensor cores exist on that one alone.
enum class Architecture : std::uint8_t { sm_90a, sm_100a };
/// As compilers write it.
std::string_view name(Architecture value);
/// The architecture of that name; nothing if fused kernels are written for none such.
std::optional<Architecture> architecture_named(std::string_view name);
/// That of a device of this compute capability; nothing where no_fused_kernels() has a reason.
std::optional<Architecture> fused_architecture(int major, int minor);

/// Why the fused kernels cannot run on a device of this compute capability, naming its architecture; nothing if they can.
core::Reason no_fused_kernels(int major, int minor);

/// What has been seen of the kernels for this architecture, for people who read a plan or a result: measured on a device,
/// or compiled and never run on one. Every cell passes the check of its results before it is timed, in either case.
std::string_view evidence(Architecture architecture);

}  // namespace megaup::ops
