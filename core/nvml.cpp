#include <megaup/core/nvml.hpp>

#include <dlfcn.h>

#include <array>
#include <limits>

namespace megaup::core {
namespace {

// The library's own header comes with drivers, not with the toolkit. What is used of it, as it has been since its first
// version: every function returns 0 for success.
using Handle = void*;
constexpr int kSmClock = 1, kMemoryClock = 2, kGpuSensor = 0, kNvlinkCapability = 2;

struct Library {
  int (*init)();
  int (*handle_by_uuid)(const char*, Handle*);
  int (*clock)(Handle, int, unsigned*);
  int (*power)(Handle, unsigned*);
  int (*temperature)(Handle, int, unsigned*);
  int (*throttle)(Handle, unsigned long long*);
  int (*p2p_status)(Handle, Handle, int, int*);
  int (*driver_version)(char*, unsigned);
  bool usable = false;
};

template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

Library load() {
  Library nvml{};
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nvml;
  nvml.usable =
      find(library, "nvmlInit_v2", nvml.init) && find(library, "nvmlDeviceGetHandleByUUID", nvml.handle_by_uuid) &&
      find(library, "nvmlDeviceGetClockInfo", nvml.clock) && find(library, "nvmlDeviceGetPowerUsage", nvml.power) &&
      find(library, "nvmlDeviceGetTemperature", nvml.temperature) &&
      find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", nvml.throttle) &&
      find(library, "nvmlDeviceGetP2PStatus", nvml.p2p_status) &&
      find(library, "nvmlSystemGetDriverVersion", nvml.driver_version) && nvml.init() == 0;
  return nvml;
}

/// Never given back: the library may be asked until the process ends.
const Library& library() {
  static const Library loaded = load();
  return loaded;
}

Handle handle_of(const std::string& uuid) {
  Handle handle = nullptr;
  if (!library().usable || library().handle_by_uuid(uuid.c_str(), &handle) != 0) return nullptr;
  return handle;
}

}  // namespace

Nvml::Nvml(const std::string& uuid) : device_(handle_of(uuid)) {}

DeviceState Nvml::state() const {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  DeviceState state{kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};
  if (device_ == nullptr) return state;
  const Library& nvml = library();
  unsigned value = 0;
  unsigned long long bits = 0;
  if (nvml.clock(device_, kSmClock, &value) == 0) state.sm_clock_hz = 1e6 * value;
  if (nvml.clock(device_, kMemoryClock, &value) == 0) state.memory_clock_hz = 1e6 * value;
  if (nvml.power(device_, &value) == 0) state.power_w = 1e-3 * value;
  if (nvml.temperature(device_, kGpuSensor, &value) == 0) state.temperature_c = value;
  if (nvml.throttle(device_, &bits) == 0) state.throttle_reasons = static_cast<double>(bits);
  return state;
}

std::string nvml_driver_version() {
  std::array<char, 96> text{};
  if (!library().usable || library().driver_version(text.data(), static_cast<unsigned>(text.size())) != 0) return {};
  return text.data();
}

std::optional<bool> nvml_nvlink(const std::string& uuid, const std::string& other) {
  Handle from = handle_of(uuid), to = handle_of(other);
  int status = 0;
  if (from == nullptr || to == nullptr || library().p2p_status(from, to, kNvlinkCapability, &status) != 0) return {};
  return status == 0;
}

}  // namespace megaup::core
