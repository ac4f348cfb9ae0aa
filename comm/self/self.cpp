#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include <megaup/comm/backend.hpp>
#include <megaup/comm/cause.hpp>
#include <megaup/comm/communicator.hpp>
#include <megaup/comm/launcher.hpp>
#include <megaup/comm/mapped_peer_memory.hpp>
#include <megaup/comm/pulled_exchange.hpp>
#include <megaup/comm/wait.hpp>
#include <megaup/core/buffer.hpp>

namespace megaup::comm {

extern const Backend self_backend;

namespace {

/// One launch: what its communicator and the groups split from it share.
class Launch {
 public:
  explicit Launch(const LaunchOptions& options)
      : rules_{.rank = 0, .patience = options.patience, .aborted_by = &aborted_by_} {}

  const WaitRules& rules() const { return rules_; }
  void abort(const core::Error& cause) noexcept {
    const std::lock_guard lock(mutex_);
    if (!cause_) cause_ = cause;
    std::atomic_ref<std::uint32_t>(aborted_by_).store(1, std::memory_order_release);
  }
  void throw_cause() const {
    if (cause_) throw *cause_;
  }

 private:
  std::uint32_t aborted_by_ = 0;
  WaitRules rules_;
  std::mutex mutex_;
  std::optional<core::Error> cause_;
};

class SelfCommunicator final : public Communicator {
 public:
  explicit SelfCommunicator(Launch& launch) : Communicator(0, 1), launch_(launch) {}

 private:
  std::string_view do_backend() const override { return self_backend.name; }
  void do_barrier() override {}
  bool do_any(bool mine) override { return mine; }
  void do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    if (!mine.empty()) std::memcpy(all.data(), mine.data(), mine.size());
  }
  std::unique_ptr<Communicator> do_split(int) override { return std::make_unique<SelfCommunicator>(launch_); }
  std::unique_ptr<Exchange> do_exchange(const ExchangeShape& shape) override {
    return pulled_exchange(*this, std::array{0}, shape);
  }
  std::unique_ptr<PeerMemory> do_peer_memory(std::size_t bytes, std::size_t flags) override {
    struct Block {
      core::Buffer data, flags;
    };
    auto block = std::make_shared<Block>(core::Buffer(bytes), core::Buffer(flags * kFlagStride));
    PeerMap map{{block->data.bytes().data()}, {block->flags.bytes().data()}, block};
    return std::make_unique<MappedPeerMemory>(bytes, flags, std::move(map), 0, launch_.rules());
  }
  core::Reason do_no_peer_memory() const override { return std::nullopt; }
  Placement do_placement() const override { return {}; }
  void do_abort(const core::Error& cause) noexcept override { launch_.abort(cause); }

  Launch& launch_;
};

int no_launcher() { return 0; }

void launch_self(const LaunchOptions& options, const std::function<void(Communicator&)>& body) {
  if (options.ranks != 1 && options.ranks != 0)
    throw core::Error(
        core::ErrorKind::usage,
        fmt::format("communicator self has 1 rank, {} are wanted: use communicator: threads", options.ranks));
  Launch launch(options);
  SelfCommunicator communicator(launch);
  try {
    body(communicator);
  } catch (const PeerAborted&) {
    // The cause is in the launch already.
  } catch (...) {
    launch.abort(current_cause(0));
  }
  launch.throw_cause();
}

}  // namespace

constinit const Backend self_backend{
    .name = "self",
    .doc = "one rank, the calling thread",
    .unavailable = several_processes,
    .launcher_ranks = no_launcher,
    .launch = launch_self,
};

}  // namespace megaup::comm
