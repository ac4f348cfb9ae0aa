#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace megaup::core {

/// What a device reports of itself, for the record of a block; NaN where it does not say.
struct DeviceState {
  double sm_clock_hz, memory_clock_hz, power_w, temperature_c;
  double throttle_reasons;  ///< NVML's bits as a number, 0 = none
};

/// One accelerator as one rank uses it: its memory and one stream in which work happens in order. Host code knows only
/// this; `core/device_cuda.cu` has the CUDA one, tests have one made of host memory.
///
/// Stream  mark() and what arms enqueue are asynchronous; copies, fill() and synchronize() return when they, and all
///         work enqueued before, are done.
/// Ranks   none is collective. A device belongs to the thread of its rank.
/// Errors  Error{cell} when memory runs out (bytes wanted, free and total), for a fault of earlier work, with the
///         device's own words, and when work is not done within the patience.
class Device {
 public:
  virtual ~Device() = default;

  /// Makes it the device of the calling thread, which must be its rank's. Once, before anything else.
  virtual void make_current() = 0;

  virtual std::string_view kind() const = 0;  ///< cuda
  virtual std::string describe() const = 0;   ///< name, UUID and index, for the record
  virtual int index() const = 0;              ///< which device of the process
  virtual int multiprocessors() const = 0;    ///< SMs that this rank may use (a partition's when the device is shared)
  virtual int whole_multiprocessors() const = 0;  ///< SMs of the device, whoever may use them
  virtual void* stream() const = 0;               ///< cudaStream_t
  /// Another stream of this rank, the same for the same number (from 0): for work beside stream(), ordered by events.
  virtual void* side_stream(int number) = 0;
  /// A rank that shares its device: true = stream(), side_stream() and multiprocessors() are the whole device's from
  /// now on, false = its partition's again. No effect on a rank that has the device for itself. Not collective.
  virtual void use_whole(bool whole) = 0;

  virtual std::byte* allocate(std::size_t bytes) = 0;
  virtual void release(std::byte* memory) noexcept = 0;
  virtual void copy_in(std::byte* to, std::span<const std::byte> from) = 0;
  virtual void copy_out(std::span<std::byte> to, const std::byte* from) = 0;
  virtual void fill(std::byte* to, std::size_t bytes, std::uint8_t value) = 0;
  virtual void synchronize() = 0;
  /// Locks the pages of host memory, which copy_in and copy_out then move at the speed of the link: other memory goes
  /// through a buffer of the driver's, several times slower. unpin() takes the address alone, when no copy is
  /// under way. See PinnedMemory. Errors: Error{cell} when the system locks no more pages. Cost: about that of touching
  /// the pages.
  virtual void pin(std::span<std::byte> memory) = 0;
  virtual void unpin(std::byte* memory) noexcept = 0;

  /// Time stamps in the stream: mark(i) enqueues stamp i (any number of them, each used again and again);
  /// seconds(i, j) is the time from stamp i to stamp j, both passed. Resolution about 0.5 us.
  virtual void mark(int stamp) = 0;
  virtual double seconds(int from, int to) = 0;
  /// Returns when the stream has passed the stamp.
  virtual void wait(int stamp) = 0;
  /// Enqueues writes of more bytes than the device caches.
  virtual void flush_cache() = 0;

  virtual DeviceState state() = 0;
};

/// Owning memory on a device, zero bytes allowed. The device outlives it. Its contents are undefined.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(Device& device, std::size_t bytes);
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();

  std::byte* data() const { return data_; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }
  std::size_t size() const { return size_; }

 private:
  Device* device_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Host memory, not owned, that stays pinned while this lives. Memory and device outlive it; zero bytes allowed.
class PinnedMemory {
 public:
  PinnedMemory(Device& device, std::span<std::byte> memory);
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory();

 private:
  Device& device_;
  std::span<std::byte> memory_;
};

}  // namespace megaup::core
