#include <dlfcn.h>

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <nccl.h>

#include <megaup/comm/cuda/device_communicator_cuda.cuh>
#include <megaup/comm/cuda/event_cuda.cuh>
#include <megaup/core/cuda_parts_cuda.cuh>

namespace megaup::comm::cuda {

namespace {

/// NCCL, loaded when it is first asked for: the program starts where it does not exist.
struct Library {
  std::string missing;  // why it cannot be used
  int version = 0;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRank) init_rank = nullptr;
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclAlltoAll) all_to_all = nullptr;
  decltype(&ncclGetErrorString) error_string = nullptr;
};

template <class Function>
void find(Library& nccl, void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr && nccl.missing.empty())
    nccl.missing = std::string("libnccl.so.2 has no ") + name + ": version 2.28 or newer is needed";
}

Library load() {
  Library nccl;
  void* library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    nccl.missing = "libnccl.so.2 is not found: install NCCL, or name its folder in LD_LIBRARY_PATH";
    return nccl;
  }
  decltype(&ncclGetVersion) get_version = nullptr;
  find(nccl, library, "ncclGetVersion", get_version);
  find(nccl, library, "ncclGetUniqueId", nccl.get_unique_id);
  find(nccl, library, "ncclCommInitRank", nccl.init_rank);
  find(nccl, library, "ncclCommDestroy", nccl.destroy);
  find(nccl, library, "ncclCommAbort", nccl.abort);
  find(nccl, library, "ncclGetErrorString", nccl.error_string);
  find(nccl, library, "ncclAlltoAll", nccl.all_to_all);
  if (get_version != nullptr) get_version(&nccl.version);
  return nccl;
}

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

void check(ncclResult_t result, const char* what) {
  if (result != ncclSuccess)
    throw core::Error(core::ErrorKind::cell,
                      std::string(what) + ": " + library().error_string(result) + " (NCCL_DEBUG=WARN says more)");
}

}  // namespace

class NcclWorld {
 public:
  NcclWorld(const ncclUniqueId& id, int ranks, int rank) {
    check(library().init_rank(&communicator_, ranks, id, rank), "ncclCommInitRank");
  }
  NcclWorld(const NcclWorld&) = delete;
  NcclWorld& operator=(const NcclWorld&) = delete;
  ~NcclWorld() {  // destroying it waits for peers, which do not come when an error unwinds
    const auto end = std::uncaught_exceptions() > 0 ? library().abort : library().destroy;
    end(communicator_);
  }

  void all_to_all(std::byte* recv, const std::byte* send, std::size_t bytes_per_peer, cudaStream_t stream) const {
    check(library().all_to_all(send, recv, bytes_per_peer, ncclInt8, communicator_, stream), "ncclAlltoAll");
  }

 private:
  ncclComm_t communicator_ = nullptr;
};

namespace {

/// In a side stream, so that what is enqueued between start and finish runs beside it.
class NcclExchange final : public Exchange {
 public:
  NcclExchange(std::shared_ptr<NcclWorld> world, core::Device& device, const ExchangeShape& shape, int ranks)
      : Exchange(shape),
        world_(std::move(world)),
        device_(device),
        slot_bytes_(shape.bytes_per_peer * static_cast<std::size_t>(ranks)),
        name_("nccl " + nccl_version()),
        send_(device, slot_bytes_ * static_cast<std::size_t>(shape.slots)),
        recv_(device, slot_bytes_ * static_cast<std::size_t>(shape.slots)),
        ready_(static_cast<std::size_t>(shape.slots)),
        done_(static_cast<std::size_t>(shape.slots)) {}
  std::string_view describe() const override { return name_; }

 private:
  std::byte* do_send(int slot) const override { return send_.data() + slot_bytes_ * static_cast<std::size_t>(slot); }
  const std::byte* do_recv(int slot) const override {
    return recv_.data() + slot_bytes_ * static_cast<std::size_t>(slot);
  }

  void do_start(int slot) override {
    const auto main = static_cast<cudaStream_t>(device_.stream()),
               side = static_cast<cudaStream_t>(device_.side_stream(0));
    ready_[static_cast<std::size_t>(slot)].record(main);
    ready_[static_cast<std::size_t>(slot)].let_wait(side);
    world_->all_to_all(recv_.data() + slot_bytes_ * static_cast<std::size_t>(slot), send(slot), shape().bytes_per_peer,
                       side);
    done_[static_cast<std::size_t>(slot)].record(side);
  }
  void do_finish(int slot) override {
    done_[static_cast<std::size_t>(slot)].let_wait(static_cast<cudaStream_t>(device_.stream()));
  }

  std::shared_ptr<NcclWorld> world_;
  core::Device& device_;
  std::size_t slot_bytes_;
  std::string name_;
  core::DeviceBuffer send_, recv_;
  std::vector<Event> ready_, done_;
};

}  // namespace

std::shared_ptr<NcclWorld> nccl_world(DeviceCommunicator& group) {
  // A name of its own: nvcc 13.0 ends with an internal error on a vector of NCCL's unnamed struct.
  struct Id {
    ncclUniqueId bytes;
  } id{};
  core::Reason reason;
  if (group.rank() == 0 && library().get_unique_id(&id.bytes) != ncclSuccess) reason = "ncclGetUniqueId failed";
  agree(group, core::ErrorKind::cell, reason);
  id = gather(group, id).front();
  std::shared_ptr<NcclWorld> world;
  try {
    world = std::make_shared<NcclWorld>(id.bytes, group.size(), group.rank());
  } catch (const core::Error& error) {
    reason = error.what();
  }
  agree(group, core::ErrorKind::cell, reason);
  return world;
}

std::unique_ptr<Exchange> nccl_exchange(std::shared_ptr<NcclWorld> world, core::Device& device,
                                        const ExchangeShape& shape, int ranks) {
  return std::make_unique<NcclExchange>(std::move(world), device, shape, ranks);
}

}  // namespace megaup::comm::cuda

namespace megaup::comm {

core::Reason no_nccl() {
  const auto& nccl = cuda::library();
  return nccl.missing.empty() ? core::Reason() : core::Reason(nccl.missing);
}

std::string nccl_version() {
  const int version = cuda::library().version;
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100);
}

}  // namespace megaup::comm
