#pragma once

#include <memory>
#include <optional>
#include <string>

#include <megaup/core/device.hpp>

namespace megaup::core {

/// NVIDIA's management library, loaded when it is first asked for: the program runs where it does not exist. A device is
/// named by its UUID ("GPU-...").
class Nvml {
 public:
  /// Of one device; without the library, or where it does not answer, every state is NaN.
  explicit Nvml(const std::string& uuid);
  DeviceState state() const;

 private:
  void* device_ = nullptr;
};

/// Driver version; empty without the library.
std::string nvml_driver_version();
/// Whether NVLink connects two devices; nothing where the library does not say.
std::optional<bool> nvml_nvlink(const std::string& uuid, const std::string& other);

}  // namespace megaup::core
