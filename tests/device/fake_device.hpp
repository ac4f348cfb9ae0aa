#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <megaup/comm/communicator.hpp>
#include <megaup/core/buffer.hpp>
#include <megaup/core/device.hpp>
#include <megaup/ops/arm.hpp>

/// A device made of host memory. Nothing that is enqueued happens before somebody waits for it, and its clock counts
/// seconds of work that the test states: what a caller forgets to wait for is missing, and times are exact. Work that
/// takes kForever is never done: waits for it end as those of a device that has lost patience.
namespace megaup::fake {

inline constexpr double kForever = std::numeric_limits<double>::infinity();

class FakeDevice final : public core::Device {
 public:
  explicit FakeDevice(int index) : index_(index) {}

  /// Work that takes so many seconds of the device's own time.
  void enqueue(double seconds, std::function<void()> work);
  std::size_t most_waiting() const { return most_waiting_; }
  bool whole() const { return whole_; }

  void make_current() override {}
  std::string_view kind() const override { return "fake"; }
  std::string describe() const override { return "fake device " + std::to_string(index_); }
  int index() const override { return index_; }
  int multiprocessors() const override { return whole_ ? whole_multiprocessors() : 4; }
  int whole_multiprocessors() const override { return 8; }
  void* stream() const override { return nullptr; }
  void* side_stream(int) override { return nullptr; }
  void use_whole(bool whole) override { whole_ = whole; }
  std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* memory) noexcept override;
  void copy_in(std::byte* to, std::span<const std::byte> from) override;
  void copy_out(std::span<std::byte> to, const std::byte* from) override;
  void fill(std::byte* to, std::size_t bytes, std::uint8_t value) override;
  void synchronize() override {
    run_until([] { return false; });
  }
  void pin(std::span<std::byte> memory) override { pinned_[memory.data()] = memory.size(); }
  void unpin(std::byte* memory) noexcept override { pinned_.erase(memory); }
  bool holds_pinned() const { return !pinned_.empty(); }
  void mark(int stamp) override;
  double seconds(int from, int to) override { return stamps_.at(to) - stamps_.at(from); }
  void wait(int stamp) override;
  void flush_cache() override {
    enqueue(1e-4, [this] { ++flushes; });
  }
  core::DeviceState state() override { return {1.5e9, 3.2e9, 700, 60, 4}; }

  std::size_t waiting() const { return waiting_.size(); }
  std::int64_t allocated() const;  ///< bytes that are given out now

  int flushes = 0;
  int copies_in = 0, copies_out = 0, unpinned_copies = 0;

 private:
  struct Work {
    double seconds;
    std::function<void()> run;
  };
  bool is_pinned(std::span<const std::byte> memory) const;
  void run_until(const std::function<bool()>& passed);

  int index_;
  bool whole_ = false;
  double now_ = 0;
  std::size_t most_waiting_ = 0;
  std::deque<Work> waiting_;
  std::map<int, double> stamps_;
  std::map<int, int> marked_, passed_;  // how often
  std::map<std::byte*, core::Buffer> memory_;
  std::map<const std::byte*, std::size_t> pinned_;
};

/// The ranks of another communicator, each with a fake device.
class FakeWorld final : public comm::Communicator {
 public:
  FakeWorld(comm::Communicator& host, FakeDevice& device, std::unique_ptr<comm::Communicator> owned = nullptr)
      : Communicator(host.rank(), host.size()), host_(host), device_(device), owned_(std::move(owned)) {}
  comm::Communicator& host() { return host_; }
  FakeDevice& fake() { return device_; }
  /// Bytes of its rank in all peer memory that was ever made.
  std::int64_t peer_bytes() const { return peer_bytes_; }

 private:
  std::string_view do_backend() const override { return host_.backend(); }
  void do_barrier() override { host_.barrier(); }
  bool do_any(bool mine) override { return host_.any(mine); }
  void do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    std::ranges::copy(host_.all_gather(mine), all.begin());
  }
  std::unique_ptr<Communicator> do_split(int colour) override {
    auto part = host_.split(colour);
    auto& group = *part;
    return std::make_unique<FakeWorld>(group, device_, std::move(part));
  }
  std::unique_ptr<comm::Exchange> do_exchange(const comm::ExchangeShape& shape) override {
    return host_.exchange(shape);
  }
  std::unique_ptr<comm::PeerMemory> do_peer_memory(std::size_t bytes, std::size_t flags) override {
    peer_bytes_ += static_cast<std::int64_t>(bytes);
    return host_.peer_memory(bytes, flags);
  }
  core::Reason do_no_peer_memory() const override { return {}; }
  comm::Placement do_placement() const override { return host_.placement(); }
  std::string_view do_fabric() const override { return "emulated"; }
  core::Device* do_device() const override { return &device_; }
  std::unique_ptr<comm::StreamBarrier> do_stream_barrier() override;
  void do_abort(const core::Error& cause) noexcept override { host_.abort(cause); }

  comm::Communicator& host_;
  FakeDevice& device_;
  std::unique_ptr<comm::Communicator> owned_;
  std::int64_t peer_bytes_ = 0;
};

/// What a launch of the arm does besides the operation. Called when the device comes to it.
struct Misdeed {
  std::function<void(ops::Operands&, int rank, std::int64_t launch)> on_device = {};
  std::function<core::Reason(int rank, std::int64_t launches)> fault = {};
  std::function<bool(int rank, std::int64_t run)> never_ends = {};  ///< asked when it is enqueued
};
/// Each launch takes a millisecond of the device's time on rank 0, two on rank 1, ...
constexpr double kLaunchSeconds = 1e-3;

/// An arm of fake devices: native_packed of the host on copies of the device's tensors.
std::unique_ptr<ops::PreparedOperation> prepare_fake(ops::Operands& operands, const ops::Context& context,
                                                     const Misdeed* misdeed = nullptr);

/// For use on ranks, where the test framework's assertions are not safe.
void expect(bool holds, const std::string& what);

/// Calls the body on `ranks` thread ranks with a fake device each.
void on_fake_devices(int ranks, const std::function<void(FakeWorld&)>& body);

}  // namespace megaup::fake
