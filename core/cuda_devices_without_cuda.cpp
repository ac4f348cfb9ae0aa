#include <megaup/core/cuda_devices.hpp>

namespace megaup::core {
namespace {

constexpr const char* kWhy =
    "this program was built without CUDA: build it with the preset cuda-hopper (MEGAUP_ENABLE_CUDA=ON)";

[[noreturn]] void refuse() { throw Error(ErrorKind::environment, kWhy); }

}  // namespace

Reason no_cuda() { return kWhy; }
std::vector<CudaDevice> cuda_devices() { refuse(); }
std::string cuda_driver_version() { refuse(); }
std::string cuda_runtime_version() { refuse(); }
bool cuda_reaches(int, int) { refuse(); }
std::string cuda_link(int, int) { refuse(); }
std::unique_ptr<Device> open_cuda_device(int, std::chrono::duration<double>) { refuse(); }
std::vector<std::unique_ptr<Device>> open_cuda_parts(int, int, std::chrono::duration<double>) { refuse(); }

}  // namespace megaup::core
