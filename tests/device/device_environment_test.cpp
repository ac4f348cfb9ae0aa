#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/core/error.hpp>
#include <megaup/experiments/devices.hpp>

/// What the environment must not say where ranks have devices; needs none.
namespace megaup {
namespace {

using Catch::Matchers::ContainsSubstring;

core::Reason unfit(bool share_device, const char* connections) {
  experiments::Spec spec;
  spec.backend.device = experiments::DeviceKind::cuda;
  spec.backend.share_device = share_device;
  return experiments::unfit_variables(spec, [&](const char* name) {
    return std::string_view(name) == "CUDA_DEVICE_MAX_CONNECTIONS" ? connections : nullptr;
  });
}

TEST_CASE("ranks that share a device are refused where one stream runs at a time, with the mend") {
  const core::Reason why = unfit(true, "1");
  REQUIRE(why.has_value());
  CHECK_THAT(*why, ContainsSubstring("CUDA_DEVICE_MAX_CONNECTIONS=1") && ContainsSubstring(": unset it"));
  CHECK(unfit(true, "32") == std::nullopt);
  CHECK(unfit(true, nullptr) == std::nullopt);
  CHECK(unfit(false, "1") == std::nullopt);  // as frameworks set it for ranks with a device each
}

}  // namespace
}  // namespace megaup
