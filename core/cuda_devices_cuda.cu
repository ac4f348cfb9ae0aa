#include <string>
#include <utility>

#include <megaup/core/cuda_parts_cuda.cuh>
#include <megaup/core/nvml.hpp>

namespace megaup::core {

namespace {

std::string uuid_text(const cudaUUID_t& uuid) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += kDigits[byte / 16];
    text += kDigits[byte % 16];
  }
  return text;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

Reason no_cuda() {
  int driver = 0, runtime = 0, devices = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (driver == 0) return "no CUDA driver: install NVIDIA's driver, or start where there is a GPU";
  if (driver / 1000 < runtime / 1000)
    return "the driver is for CUDA " + cuda_driver_version() + ", this program for " + cuda_runtime_version() +
           ": install a newer driver";
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess || devices == 0)
    return std::string("no CUDA device: ") +
           (error == cudaSuccess ? "the driver has none" : cudaGetErrorString(error)) +
           ": look at nvidia-smi and CUDA_VISIBLE_DEVICES";
  return {};
}

std::vector<CudaDevice> cuda_devices() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  std::vector<CudaDevice> devices;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, i), "cudaGetDeviceProperties");
    CudaDevice device{i, properties.name, uuid_text(properties.uuid)};
    device.architecture = "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
    device.multiprocessors = properties.multiProcessorCount;
    device.bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
    devices.push_back(std::move(device));
  }
  return devices;
}

std::string cuda_driver_version() {
  int version = 0;
  cudaDriverGetVersion(&version);
  return version_text(version);
}

std::string cuda_runtime_version() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return version_text(version);
}

bool cuda_reaches(int from, int to) {
  int can = 0;
  return from == to || (cudaDeviceCanAccessPeer(&can, from, to) == cudaSuccess && can != 0);
}

std::string cuda_link(int from, int to) {
  if (from == to) return "same";
  if (!cuda_reaches(from, to)) return "unreachable";
  const auto devices = cuda_devices();
  const auto nvlink =
      nvml_nvlink(devices.at(static_cast<std::size_t>(from)).uuid, devices.at(static_cast<std::size_t>(to)).uuid);
  int atomics = 0;  // without the library's answer: of the links between GPUs, only NVLink carries them
  if (!nvlink) cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, from, to);
  return nvlink.value_or(atomics != 0) ? "nvlink" : "pcie";
}

}  // namespace megaup::core
