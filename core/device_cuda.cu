#include <array>
#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

#include <megaup/core/cuda_devices.hpp>
#include <megaup/core/cuda_parts_cuda.cuh>
#include <megaup/core/nvml.hpp>

namespace megaup::core {

namespace {

using Clock = std::chrono::steady_clock;

/// Streams of one share of the device.
class Streams {
 public:
  /// All multiprocessors, or those of a partition.
  explicit Streams(int multiprocessors, Partition partition = {})
      : multiprocessors_(multiprocessors), partition_(std::move(partition)) {
    streams_.push_back(make());
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() {
    for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
  }

  int multiprocessors() const { return multiprocessors_; }
  cudaStream_t main() const { return streams_[0]; }
  cudaStream_t side(int number) {
    while (static_cast<int>(streams_.size()) < number + 2) streams_.push_back(make());
    return streams_[static_cast<std::size_t>(number) + 1];
  }

 private:
  cudaStream_t make() const {
    if (partition_) return partition_stream(partition_);
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
    return stream;
  }

  int multiprocessors_;
  Partition partition_;
  std::vector<cudaStream_t> streams_;
};

class CudaDeviceOfRank final : public Device {
 public:
  CudaDeviceOfRank(CudaDevice facts, std::chrono::duration<double> patience, Partition partition, int multiprocessors)
      : facts_(std::move(facts)), patience_(patience), nvml_(facts_.uuid) {
    if (partition)
      part_ = std::make_unique<Streams>(multiprocessors, std::move(partition));
    else
      whole_ = std::make_unique<Streams>(facts_.multiprocessors);
    now_ = part_ ? part_.get() : whole_.get();
  }
  ~CudaDeviceOfRank() override {
    const OnDevice there(facts_.index);
    for (const cudaEvent_t event : stamps_) cudaEventDestroy(event);
    cudaFree(flush_);
  }

  void make_current() override { check(cudaSetDevice(facts_.index), "cudaSetDevice"); }
  std::string_view kind() const override { return "cuda"; }
  std::string describe() const override {
    const int mine = (part_ ? part_ : whole_)->multiprocessors();
    std::string text = facts_.name + ", " + facts_.uuid + ", device " + std::to_string(facts_.index);
    if (part_)
      text += ", " + std::to_string(mine) + " of " + std::to_string(facts_.multiprocessors) + " multiprocessors";
    return text;
  }
  int index() const override { return facts_.index; }
  int multiprocessors() const override { return now_->multiprocessors(); }
  int whole_multiprocessors() const override { return facts_.multiprocessors; }
  void* stream() const override { return now_->main(); }
  void* side_stream(int number) override { return now_->side(number); }
  void use_whole(bool whole) override {
    if (!part_) return;
    synchronize();
    if (whole && !whole_) whole_ = std::make_unique<Streams>(facts_.multiprocessors);
    now_ = whole ? whole_.get() : part_.get();
  }

  std::byte* allocate(std::size_t bytes) override { return allocate_on(facts_, bytes); }
  void release(std::byte* memory) noexcept override { cudaFree(memory); }
  void copy_in(std::byte* to, std::span<const std::byte> from) override {
    if (from.empty()) return;
    tell(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, now_->main()), "a copy to the device");
    synchronize();
  }
  void copy_out(std::span<std::byte> to, const std::byte* from) override {
    if (to.empty()) return;
    synchronize();  // with patience, which the copy itself has not
    tell(cudaMemcpyAsync(to.data(), from, to.size(), cudaMemcpyDeviceToHost, now_->main()), "a copy to the host");
    synchronize();
  }
  void fill(std::byte* to, std::size_t bytes, std::uint8_t value) override {
    if (bytes == 0) return;
    tell(cudaMemsetAsync(to, value, bytes, now_->main()), "a fill");
    synchronize();
  }
  void synchronize() override {
    wait_for([this] { return cudaStreamQuery(now_->main()); });
  }
  void pin(std::span<std::byte> memory) override {
    tell(cudaHostRegister(memory.data(), memory.size(), cudaHostRegisterDefault),
         ("pinning " + std::to_string(memory.size()) + " bytes of host memory").c_str());
  }
  void unpin(std::byte* memory) noexcept override { cudaHostUnregister(memory); }

  void mark(int stamp) override { tell(cudaEventRecord(event(stamp), now_->main()), "a time stamp"); }
  double seconds(int from, int to) override {
    float ms = 0;
    tell(cudaEventElapsedTime(&ms, event(from), event(to)), "the time between two stamps");
    return 1e-3 * static_cast<double>(ms);
  }
  void wait(int stamp) override {
    const cudaEvent_t passed = event(stamp);
    wait_for([passed] { return cudaEventQuery(passed); });
  }
  void flush_cache() override {
    if (flush_ == nullptr) {
      cudaDeviceProp properties{};
      check(cudaGetDeviceProperties(&properties, facts_.index), "cudaGetDeviceProperties");
      flush_bytes_ = 2 * static_cast<std::size_t>(properties.l2CacheSize);
      flush_ = allocate(flush_bytes_);
    }
    tell(cudaMemsetAsync(flush_, ++flush_value_, flush_bytes_, now_->main()), "a flush of the cache");
  }

  DeviceState state() override { return nvml_.state(); }

 private:
  cudaEvent_t event(int stamp) {
    while (static_cast<int>(stamps_.size()) <= stamp) {
      cudaEvent_t event = nullptr;
      check(cudaEventCreate(&event), "an event");
      stamps_.push_back(event);
    }
    return stamps_[static_cast<std::size_t>(stamp)];
  }

  void tell(cudaError_t error, const char* what) const {
    if (error == cudaSuccess) return;
    throw Error(ErrorKind::cell, "device " + std::to_string(facts_.index) + " (" + facts_.name + "), " + what + ": " +
                                     cudaGetErrorString(error));
  }

  /// The runtime's own waits never end when a kernel does not.
  template <class Query>
  void wait_for(const Query& query) const {
    const auto begin = Clock::now();
    for (cudaError_t answer = query(); answer != cudaSuccess; answer = query()) {
      if (answer != cudaErrorNotReady) tell(answer, "work that was enqueued before");
      const auto waited = Clock::now() - begin;
      if (waited > patience_)
        throw Error(ErrorKind::cell, "device " + std::to_string(facts_.index) + " (" + facts_.name +
                                         "): enqueued work was not done after " +
                                         std::to_string(static_cast<long>(patience_.count())) + " s");
      // Short work is waited for without a sleep, so that little time passes between the blocks.
      if (waited > std::chrono::milliseconds(1)) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  CudaDevice facts_;
  std::chrono::duration<double> patience_;
  Nvml nvml_;
  std::unique_ptr<Streams> part_, whole_;
  Streams* now_ = nullptr;
  std::vector<cudaEvent_t> stamps_;
  std::byte* flush_ = nullptr;
  std::size_t flush_bytes_ = 0;
  std::uint8_t flush_value_ = 0;
};

}  // namespace

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw Error(ErrorKind::environment, std::string(what) + ": " + cudaGetErrorString(error));
}

std::byte* allocate_on(const CudaDevice& device, std::size_t bytes) {
  void* memory = nullptr;
  if (cudaMalloc(&memory, bytes) == cudaSuccess) return static_cast<std::byte*>(memory);
  const cudaError_t error = cudaGetLastError();  // and forgets it: the device is still good
  std::size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  throw Error(ErrorKind::cell, "device " + std::to_string(device.index) + " (" + device.name + ") has no " +
                                   std::to_string(bytes) + " bytes: " + std::to_string(free) + " of " +
                                   std::to_string(total) + " are free (" + cudaGetErrorString(error) +
                                   "): choose fewer tokens_per_rank, or end other programs on it");
}

std::unique_ptr<Device> open_cuda_device(int index, std::chrono::duration<double> patience) {
  check(cudaSetDevice(index), "cudaSetDevice");
  return std::make_unique<CudaDeviceOfRank>(cuda_devices().at(static_cast<std::size_t>(index)), patience, Partition(),
                                            0);
}

std::vector<std::unique_ptr<Device>> open_cuda_parts(int index, int parts, std::chrono::duration<double> patience) {
  check(cudaSetDevice(index), "cudaSetDevice");
  const CudaDevice facts = cuda_devices().at(static_cast<std::size_t>(index));
  auto [partitions, multiprocessors] = make_partitions(facts, parts);
  std::vector<std::unique_ptr<Device>> devices;
  for (Partition& partition : partitions)
    devices.push_back(std::make_unique<CudaDeviceOfRank>(facts, patience, std::move(partition), multiprocessors));
  return devices;
}

}  // namespace megaup::core
