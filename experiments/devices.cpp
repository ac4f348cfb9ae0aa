#include <megaup/experiments/devices.hpp>

#include <algorithm>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include <megaup/comm/wait.hpp>
#include <megaup/comm/with_device.hpp>
#include <megaup/core/cuda_devices.hpp>
#include <megaup/core/nvml.hpp>
#include <megaup/experiments/agreement.hpp>

namespace megaup::experiments {

core::Reason unfit_variables(const Spec& spec, const ReadVariable& variable) {
  const char* connections = variable("CUDA_DEVICE_MAX_CONNECTIONS");
  if (!spec.backend.share_device || connections == nullptr || std::string_view(connections) != "1") return {};
  return "CUDA_DEVICE_MAX_CONNECTIONS=1 lets one stream of a device run at a time, so ranks that share one would wait for "
         "each other for ever: unset it";
}

std::chrono::duration<double> device_patience(const Spec& spec) {
  constexpr double kLongest = 20;
  return std::chrono::duration<double>(std::min(kLongest, spec.measure.cell_timeout_s));
}

std::unique_ptr<comm::Communicator> take_devices(comm::Communicator& world, const Spec& spec) {
  try {
    return comm::with_device(
        world,
        {.transport = spec.backend.exchange, .share = spec.backend.share_device, .patience = device_patience(spec)});
  } catch (const comm::PeerAborted&) {
    throw;
  } catch (const core::Error& error) {
    throw AgreedError(error.kind(), error.what());
  }
}

void describe_devices(std::map<std::string, std::string>& environment) {
  environment["device"] = "cuda";
  for (const auto& device : core::cuda_devices())
    environment[fmt::format("gpu_{}", device.index)] =
        fmt::format("{}, {}, {}, {} multiprocessors, {:.1f} GiB", device.name, device.uuid, device.architecture,
                    device.multiprocessors, static_cast<double>(device.bytes) / (1 << 30));
  environment["cuda_driver"] = core::cuda_driver_version();
  environment["cuda_runtime"] = core::cuda_runtime_version();
  if (const auto version = core::nvml_driver_version(); !version.empty()) environment["nvidia_driver"] = version;
  environment["nccl"] = comm::no_nccl().value_or(comm::nccl_version());
}

std::string device_identity() {
  std::string text;
  for (const auto& device : core::cuda_devices()) text += fmt::format(" | {} {}", device.name, device.uuid);
  return text;
}

std::int64_t smallest_device_bytes() {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const auto& device : core::cuda_devices()) least = std::min(least, device.bytes);
  return least;
}

}  // namespace megaup::experiments
