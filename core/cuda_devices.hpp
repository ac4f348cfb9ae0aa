#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <megaup/core/device.hpp>
#include <megaup/core/error.hpp>

/// The CUDA devices of this process. A build without CUDA answers with its reason.
namespace megaup::core {

struct CudaDevice {
  int index = 0;
  std::string name, uuid, architecture;  ///< architecture: sm_90
  int multiprocessors = 0;
  std::int64_t bytes = 0;  ///< its memory
};

/// Why there is none: this build, no driver, no device, a driver that is too old. With the mend.
Reason no_cuda();
/// Requires !no_cuda().
std::vector<CudaDevice> cuda_devices();
/// Versions of driver, CUDA driver interface and CUDA runtime, as words. Requires !no_cuda().
std::string cuda_driver_version();
std::string cuda_runtime_version();
/// Whether device `from` can load and store in the memory of device `to`.
bool cuda_reaches(int from, int to);
/// nvlink | pcie between two devices, same | unreachable.
std::string cuda_link(int from, int to);

/// The device for one rank alone. Throws Error{environment}.
std::unique_ptr<Device> open_cuda_device(int index, std::chrono::duration<double> patience);
/// One device for `parts` ranks of this process: disjoint sets of equally many multiprocessors (green contexts). Throws
/// Error{cell} when it has not so many parts.
std::vector<std::unique_ptr<Device>> open_cuda_parts(int index, int parts, std::chrono::duration<double> patience);

}  // namespace megaup::core
