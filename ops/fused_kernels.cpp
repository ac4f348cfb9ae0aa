#include <megaup/ops/fused_kernels.hpp>

#include <fmt/format.h>

namespace megaup::ops {

namespace {

struct Row {
  Architecture architecture;
  std::string_view name;
  int major, minor;
  std::string_view evidence;
};

constexpr Row kRows[] = {
    {Architecture::sm_90a, "sm_90a", 9, 0, "measured on a device"},
    {Architecture::sm_100a, "sm_100a", 10, 0, "compiled, never run on a device; rates not measured"},
};

const Row& row(Architecture architecture) { return kRows[static_cast<std::size_t>(architecture)]; }

}  // namespace

std::string_view name(Architecture value) { return row(value).name; }
std::string_view evidence(Architecture architecture) { return row(architecture).evidence; }

std::optional<Architecture> architecture_named(std::string_view name) {
  for (const Row& one : kRows)
    if (one.name == name) return one.architecture;
  return {};
}

std::optional<Architecture> fused_architecture(int major, int minor) {
  for (const Row& one : kRows)
    if (one.major == major && one.minor == minor) return one.architecture;
  return {};
}

core::Reason no_fused_kernels(int major, int minor) {
  if (fused_architecture(major, minor)) return {};
  // From 9.0 on the instructions of the tensor cores belong to one architecture each, whose name ends in a.
  return fmt::format("no kernel for sm_{}{}{} yet: the fused kernels are for the tensor cores of {} and {}", major, minor,
                     major >= 9 ? "a" : "", name(Architecture::sm_90a), name(Architecture::sm_100a));
}

}  // namespace megaup::ops
