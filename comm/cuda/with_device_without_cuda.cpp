#include <megaup/comm/with_device.hpp>

#include <megaup/core/cuda_devices.hpp>

namespace megaup::comm {

std::unique_ptr<Communicator> with_device(Communicator&, const DeviceChoice&) {
  throw core::Error(core::ErrorKind::environment, *core::no_cuda());
}

core::Reason no_nccl() { return core::no_cuda(); }
std::string nccl_version() { throw core::Error(core::ErrorKind::environment, *core::no_cuda()); }

}  // namespace megaup::comm
