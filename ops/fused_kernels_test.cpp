#include <megaup/ops/fused_kernels.hpp>

#include <catch2/catch_test_macros.hpp>

namespace megaup::ops {
namespace {

TEST_CASE("fused kernels run on Hopper and Blackwell GPUs, and other architectures are refused by name") {
  CHECK_FALSE(no_fused_kernels(9, 0));
  CHECK_FALSE(no_fused_kernels(10, 0));
  const core::Reason ultra = no_fused_kernels(10, 3), ampere = no_fused_kernels(8, 0), ada = no_fused_kernels(8, 9);
  REQUIRE((ultra && ampere && ada));
  CHECK(*ultra == "no kernel for sm_103a yet: the fused kernels are for the tensor cores of sm_90a and sm_100a");
  CHECK(ampere->starts_with("no kernel for sm_80 yet: "));
  CHECK(ada->starts_with("no kernel for sm_89 yet: "));
}

TEST_CASE("an architecture is told from a compute capability and from its name") {
  CHECK(fused_architecture(9, 0) == Architecture::sm_90a);
  CHECK(fused_architecture(10, 0) == Architecture::sm_100a);
  CHECK_FALSE(fused_architecture(10, 3));
  for (const Architecture architecture : {Architecture::sm_90a, Architecture::sm_100a})
    CHECK(architecture_named(name(architecture)) == architecture);
  CHECK_FALSE(architecture_named("sm_90"));
}

TEST_CASE("what was never run on a device says so") {
  CHECK(evidence(Architecture::sm_100a).find("never run on a device") != std::string_view::npos);
  CHECK(evidence(Architecture::sm_90a) == "measured on a device");
}

}  // namespace
}  // namespace megaup::ops
