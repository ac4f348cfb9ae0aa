#include <megaup/ops/fused_kernels.hpp>

#include <catch2/catch_test_macros.hpp>

namespace megaup::ops {
namespace {

TEST_CASE("fused kernels run on Hopper GPUs, and other architectures are refused by name") {
  CHECK_FALSE(no_fused_kernels(9, 0));
  const core::Reason blackwell = no_fused_kernels(10, 0), ampere = no_fused_kernels(8, 0), ada = no_fused_kernels(8, 9);
  REQUIRE((blackwell && ampere && ada));
  CHECK(blackwell->starts_with("no kernel for sm_100a yet: "));
  CHECK(ampere->starts_with("no kernel for sm_80 yet: "));
  CHECK(ada->starts_with("no kernel for sm_89 yet: "));
}

}  // namespace
}  // namespace megaup::ops
