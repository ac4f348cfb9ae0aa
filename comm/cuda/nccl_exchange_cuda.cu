#include <dlfcn.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <cuda.h>
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
  decltype(&ncclCommInitRankConfig) init_rank = nullptr;
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclAlltoAll) all_to_all = nullptr;
  decltype(&ncclMemAlloc) allocate = nullptr;
  decltype(&ncclMemFree) release = nullptr;
  decltype(&ncclCommWindowRegister) register_window = nullptr;
  decltype(&ncclCommWindowDeregister) deregister_window = nullptr;
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
  find(nccl, library, "ncclCommInitRankConfig", nccl.init_rank);
  find(nccl, library, "ncclCommDestroy", nccl.destroy);
  find(nccl, library, "ncclCommAbort", nccl.abort);
  find(nccl, library, "ncclGetErrorString", nccl.error_string);
  find(nccl, library, "ncclAlltoAll", nccl.all_to_all);
  find(nccl, library, "ncclMemAlloc", nccl.allocate);
  find(nccl, library, "ncclMemFree", nccl.release);
  find(nccl, library, "ncclCommWindowRegister", nccl.register_window);
  find(nccl, library, "ncclCommWindowDeregister", nccl.deregister_window);
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
  NcclWorld(const ncclUniqueId& id, int ranks, int rank, bool zero_cta) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    if (zero_cta) config.CTAPolicy = NCCL_CTA_POLICY_ZERO;
    check(library().init_rank(&communicator_, ranks, id, rank, &config), "ncclCommInitRankConfig");
  }
  NcclWorld(const NcclWorld&) = delete;
  NcclWorld& operator=(const NcclWorld&) = delete;
  ~NcclWorld() {  // destroying it waits for peers, which do not come when an error unwinds
    const auto end = std::uncaught_exceptions() > 0 ? library().abort : library().destroy;
    end(communicator_);
  }

  ncclComm_t communicator() const { return communicator_; }
  ncclResult_t all_to_all(std::byte* recv, const std::byte* send, std::size_t bytes_per_peer,
                          cudaStream_t stream) const {
    return library().all_to_all(send, recv, bytes_per_peer, ncclInt8, communicator_, stream);
  }

 private:
  ncclComm_t communicator_ = nullptr;
};

namespace {

cudaStream_t main_of(core::Device& device) { return static_cast<cudaStream_t>(device.stream()); }
cudaStream_t side_of(core::Device& device) { return static_cast<cudaStream_t>(device.side_stream(0)); }

/// Memory that NCCL maps on all ranks, at the same offset of an address range of each: a symmetric window.
class Window {
 public:
  /// Collective.
  Window(DeviceCommunicator& group, const NcclWorld& world, std::size_t bytes)
      : device_(group.own_device()), registered_(nullptr, {world.communicator()}) {
    core::Reason reason;
    void* memory = nullptr;
    if (const ncclResult_t result = library().allocate(&memory, bytes); result != ncclSuccess)
      reason = "ncclMemAlloc of " + std::to_string(bytes) + " bytes: " + library().error_string(result);
    memory_.reset(static_cast<std::byte*>(memory));
    agree(group, core::ErrorKind::cell, reason);
    ncclWindow_t window = nullptr;
    const ncclResult_t result =
        library().register_window(world.communicator(), memory, bytes, &window, NCCL_WIN_COLL_SYMMETRIC);
    registered_.reset(window);
    if (result != ncclSuccess)
      reason = std::string("ncclCommWindowRegister: ") + library().error_string(result);
    else if (!symmetric())
      reason = "NCCL " + nccl_version() +
               " has made no symmetric window: every device must reach every other one, and neither "
               "NCCL_CUMEM_ENABLE=0 nor NCCL_WIN_ENABLE=0 be set (NCCL_DEBUG=INFO says more)";
    agree(group, core::ErrorKind::cell, reason);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  /// Unmapping does not wait for copies as cudaFree does: memory that streams have not come to the end of stays.
  ~Window() {
    if (idle()) return;
    registered_.release();
    memory_.release();
  }

  std::byte* data() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const { library().release(memory); }
  };
  struct Deregister {
    ncclComm_t communicator;
    void operator()(ncclWindow_t window) const { library().deregister_window(communicator, window); }
  };

  /// What kernels read of a symmetric window is on the device; where NCCL has made none it gives null or something of the
  /// host.
  bool symmetric() const {
    cudaPointerAttributes where{};
    return registered_ != nullptr && cudaPointerGetAttributes(&where, registered_.get()) == cudaSuccess &&
           where.type == cudaMemoryTypeDevice;
  }
  bool idle() const noexcept {
    try {
      if (std::uncaught_exceptions() == 0) device_.synchronize();  // a peer that an error took away is not waited for
    } catch (const core::Error&) {
      return false;
    }
    return cudaStreamQuery(main_of(device_)) == cudaSuccess && cudaStreamQuery(side_of(device_)) == cudaSuccess;
  }

  core::Device& device_;
  std::unique_ptr<std::byte, Free> memory_;
  std::unique_ptr<std::remove_pointer_t<ncclWindow_t>, Deregister> registered_;  // given back before the memory
};

/// In a side stream, so that what is enqueued between start and finish runs beside it. NCCL begins to write a receive
/// buffer when its rank has come to the exchange, so there is one for each slot.
class NcclExchange final : public Exchange {
 public:
  NcclExchange(DeviceCommunicator& group, std::shared_ptr<NcclWorld> world, const ExchangeShape& shape)
      : Exchange(shape),
        world_(std::move(world)),
        device_(group.own_device()),
        slot_bytes_(std::max<std::size_t>(
                        1, (shape.bytes_per_peer * static_cast<std::size_t>(group.size()) + kPage - 1) / kPage) *
                    kPage),
        name_(std::string(name(shape.transport)) + " " + nccl_version()),
        ready_(slots()),
        done_(slots()) {
    device_.side_stream(0);  // made now, not in a run
    const std::size_t bytes = 2 * slots() * slot_bytes_;
    if (shape.transport == Transport::nccl) {
      buffers_ = core::DeviceBuffer(device_, bytes);
      send_ = buffers_.data();
    } else {
      window_ = std::make_unique<Window>(group, *world_, bytes);
      send_ = window_->data();
    }
  }
  std::string_view describe() const override { return name_; }

  /// Why this is no exchange without multiprocessors. NCCL does not tell what it has chosen, but a graph of an exchange
  /// does. Collective.
  core::Reason launches_kernels() {
    // Twice: NCCL prepares in the first one, and only after the second have its flags left the value for which a
    // captured exchange waits.
    for (int i = 0; i < 2; ++i) {
      start(0);
      finish(0);
    }
    device_.synchronize();
    const std::size_t kernels = kernels_of_an_exchange();
    if (kernels == 0) return {};
    return "NCCL " + nccl_version() + " launches " + std::to_string(kernels) + (kernels == 1 ? " kernel" : " kernels") +
           " for an exchange though it was asked to use copy engines alone: that needs a driver of CUDA 12.5 or newer, "
           "and NCCL_CTA_POLICY must not say otherwise";
  }

 private:
  static constexpr std::size_t kPage = 4096;

  std::size_t slots() const { return static_cast<std::size_t>(shape().slots); }
  std::byte* do_send(int slot) const override { return send_ + slot_bytes_ * static_cast<std::size_t>(slot); }
  const std::byte* do_recv(int slot) const override { return recv_at(slot); }
  std::byte* recv_at(int slot) const { return send_ + slot_bytes_ * (slots() + static_cast<std::size_t>(slot)); }

  ncclResult_t enqueue(int slot) {
    return world_->all_to_all(recv_at(slot), do_send(slot), shape().bytes_per_peer, side_of(device_));
  }
  void do_start(int slot) override {
    const auto at = static_cast<std::size_t>(slot);
    ready_[at].record(main_of(device_));
    ready_[at].let_wait(side_of(device_));
    check(enqueue(slot), "ncclAlltoAll");
    done_[at].record(side_of(device_));
  }
  void do_finish(int slot) override { done_[static_cast<std::size_t>(slot)].let_wait(main_of(device_)); }

  std::size_t kernels_of_an_exchange() {
    core::check(cudaStreamBeginCapture(side_of(device_), cudaStreamCaptureModeThreadLocal), "begin of a capture");
    const ncclResult_t result = enqueue(0);
    cudaGraph_t captured = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(side_of(device_), &captured);
    const std::unique_ptr<CUgraph_st, decltype(&cudaGraphDestroy)> graph(captured, cudaGraphDestroy);
    check(result, "ncclAlltoAll in a capture");  // before what it did to the capture
    core::check(ended, "end of a capture");
    std::size_t count = 0;
    core::check(cudaGraphGetNodes(captured, nullptr, &count), "nodes of a graph");
    std::vector<cudaGraphNode_t> nodes(count);
    core::check(cudaGraphGetNodes(captured, nodes.data(), &count), "nodes of a graph");
    // The driver's function: the runtime's does not know all kinds of nodes that copy engines bring (batched writes and
    // waits).
    const auto type_of = reinterpret_cast<decltype(&cuGraphNodeGetType)>(core::driver_function("cuGraphNodeGetType", 10000));
    return static_cast<std::size_t>(std::ranges::count_if(nodes, [type_of](cudaGraphNode_t node) {
      CUgraphNodeType type{};
      core::check(type_of(node, &type), "a node of a graph");
      return type == CU_GRAPH_NODE_TYPE_KERNEL;
    }));
  }

  std::shared_ptr<NcclWorld> world_;
  core::Device& device_;
  std::size_t slot_bytes_;
  std::string name_;
  core::DeviceBuffer buffers_;      // or
  std::unique_ptr<Window> window_;  // have the send buffers of all slots, and then the receive buffers
  std::byte* send_ = nullptr;
  std::vector<Event> ready_, done_;
};

}  // namespace

std::shared_ptr<NcclWorld> nccl_world(DeviceCommunicator& group, bool zero_cta) {
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
    world = std::make_shared<NcclWorld>(id.bytes, group.size(), group.rank(), zero_cta);
  } catch (const core::Error& error) {
    reason = error.what();
  }
  agree(group, core::ErrorKind::cell, reason);
  return world;
}

std::unique_ptr<Exchange> nccl_exchange(DeviceCommunicator& group, std::shared_ptr<NcclWorld> world,
                                        const ExchangeShape& shape) {
  auto exchange = std::make_unique<NcclExchange>(group, std::move(world), shape);
  if (shape.transport != Transport::nccl_zero_cta) return exchange;
  core::Reason reason;
  try {
    reason = exchange->launches_kernels();
  } catch (const core::Error& error) {
    reason = error.what();
  }
  agree(group, core::ErrorKind::cell, reason);
  return exchange;
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
