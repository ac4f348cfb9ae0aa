#include <megaup/core/device.hpp>

#include <utility>

namespace megaup::core {

DeviceBuffer::DeviceBuffer(Device& device, std::size_t bytes)
    : device_(&device), data_(bytes == 0 ? nullptr : device.allocate(bytes)), size_(bytes) {}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (data_ != nullptr) device_->release(data_);
}

PinnedMemory::PinnedMemory(Device& device, std::span<std::byte> memory) : device_(device), memory_(memory) {
  if (!memory.empty()) device.pin(memory);
}

PinnedMemory::~PinnedMemory() {
  if (!memory_.empty()) device_.unpin(memory_.data());
}

}  // namespace megaup::core
