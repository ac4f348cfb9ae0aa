#include <fake_device.hpp>

#include <iterator>
#include <stdexcept>

#include <megaup/comm/backend.hpp>

namespace megaup::fake {
namespace {

void copy(core::Bf16Matrix to, core::Bf16Matrix from) {
  for (std::int64_t i = 0; i < from.rows; ++i) std::copy_n(from.row(i), from.columns, to.row(i));
}

void copy(const ops::HeadTensors& to, const ops::HeadTensors& from) {
  for (std::size_t kind = 0; kind < to.tensor.size(); ++kind)
    if (from.tensor[kind].columns > 0) copy(to.tensor[kind], from.tensor[kind]);
}

class FakeArm final : public ops::PreparedOperation {
 public:
  FakeArm(ops::Operands& operands, const ops::Context& context, const Misdeed* misdeed)
      : operands_(operands),
        world_(dynamic_cast<FakeWorld&>(context.communicator)),
        on_host_(operands.operation(), operands.problem(), world_.host()),
        real_(ops::find_arm("native_packed", operands.operation().kind)
                  ->prepare(on_host_, {.communicator = world_.host()})),
        misdeed_(misdeed),
        alone_(false) {}

  void run() override {
    const bool forever = misdeed_ != nullptr && misdeed_->never_ends && misdeed_->never_ends(world_.rank(), runs_++);
    world_.fake().enqueue(forever ? kForever : kLaunchSeconds * (1 + world_.rank()), [this] { launch(); });
  }
  int current_set() const override { return real_->current_set(); }
  void assume_peers_arrived() override { alone_ = true; }
  core::Reason fault() override {
    return misdeed_ != nullptr && misdeed_->fault ? misdeed_->fault(world_.rank(), launches_) : core::Reason();
  }

 private:
  void launch() {
    if (!alone_) {
      copy(on_host_.weight(), operands_.device_weight());
      const bool gemm_first = operands_.operation().kind == ops::Kind::gemm_to_a2a;
      if (gemm_first)
        copy(on_host_.hidden(), operands_.device_hidden());
      else
        copy(on_host_.heads(), operands_.device_heads(world_.rank()));
      real_->run();
      if (gemm_first)
        copy(operands_.device_heads(world_.rank(), real_->current_set()), on_host_.heads(real_->current_set()));
      else
        copy(operands_.device_hidden(), on_host_.hidden());
    }
    if (misdeed_ != nullptr && misdeed_->on_device) misdeed_->on_device(operands_, world_.rank(), launches_);
    ++launches_;
  }

  ops::Operands& operands_;
  FakeWorld& world_;
  ops::Operands on_host_;
  std::unique_ptr<ops::PreparedOperation> real_;
  const Misdeed* misdeed_;
  bool alone_;
  std::int64_t launches_ = 0, runs_ = 0;
};

class FakeBarrier final : public comm::StreamBarrier {
 public:
  explicit FakeBarrier(FakeWorld& world) : world_(world) {}
  void enqueue() override {
    world_.fake().enqueue(0, [this] { world_.host().barrier(); });
  }
  core::Reason fault() override { return {}; }

 private:
  FakeWorld& world_;
};

}  // namespace

void FakeDevice::enqueue(double seconds, std::function<void()> work) {
  waiting_.push_back({seconds, std::move(work)});
  most_waiting_ = std::max(most_waiting_, waiting_.size());
}

std::byte* FakeDevice::allocate(std::size_t bytes) {
  core::Buffer buffer(bytes);
  std::byte* memory = buffer.bytes().data();
  memory_.emplace(memory, std::move(buffer));
  return memory;
}

std::int64_t FakeDevice::allocated() const {
  std::int64_t bytes = 0;
  for (const auto& [address, buffer] : memory_) bytes += static_cast<std::int64_t>(buffer.size());
  return bytes;
}

void FakeDevice::release(std::byte* memory) noexcept { memory_.erase(memory); }

void FakeDevice::copy_in(std::byte* to, std::span<const std::byte> from) {
  synchronize();
  ++copies_in;
  unpinned_copies += is_pinned(from) ? 0 : 1;
  std::ranges::copy(from, to);
}

void FakeDevice::copy_out(std::span<std::byte> to, const std::byte* from) {
  synchronize();
  ++copies_out;
  unpinned_copies += is_pinned(to) ? 0 : 1;
  std::copy_n(from, to.size(), to.begin());
}

bool FakeDevice::is_pinned(std::span<const std::byte> memory) const {
  const auto after = pinned_.upper_bound(memory.data());
  if (after == pinned_.begin()) return false;
  const auto& [begin, bytes] = *std::prev(after);
  return memory.data() + memory.size() <= begin + bytes;
}

void FakeDevice::fill(std::byte* to, std::size_t bytes, std::uint8_t value) {
  synchronize();
  std::fill_n(to, bytes, std::byte{value});
}

void FakeDevice::mark(int stamp) {
  ++marked_[stamp];
  enqueue(0, [this, stamp] {
    stamps_[stamp] = now_;
    ++passed_[stamp];
  });
}

void FakeDevice::wait(int stamp) {
  run_until([this, stamp] { return passed_[stamp] == marked_[stamp]; });
}

void FakeDevice::run_until(const std::function<bool()>& passed) {
  while (!passed() && !waiting_.empty()) {
    if (waiting_.front().seconds == kForever)
      throw core::Error(core::ErrorKind::cell, describe() + ": enqueued work was not done");
    Work work = std::move(waiting_.front());
    waiting_.pop_front();
    work.run();
    now_ += work.seconds;
  }
}

std::unique_ptr<comm::StreamBarrier> FakeWorld::do_stream_barrier() { return std::make_unique<FakeBarrier>(*this); }

std::unique_ptr<ops::PreparedOperation> prepare_fake(ops::Operands& operands, const ops::Context& context,
                                                     const Misdeed* misdeed) {
  return std::make_unique<FakeArm>(operands, context, misdeed);
}

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("expected: " + what);
}

void on_fake_devices(int ranks, const std::function<void(FakeWorld&)>& body) {
  comm::select_backend("threads").launch({.ranks = ranks}, [&](comm::Communicator& host) {
    FakeDevice device(host.rank());
    FakeWorld world(host, device);
    body(world);
    host.barrier();  // peers may still read this device's memory
  });
}

}  // namespace megaup::fake
