#include <string>

#include <megaup/core/cuda_parts_cuda.cuh>

namespace megaup::core {

namespace {

// Hopper gives multiprocessors away in eights, and at least eight.
constexpr int kGranularity = 8;
constexpr unsigned kGreenContexts = 12040, kGreenStreams = 12050;

template <class Function>
Function* driver(const char* name, unsigned version) {
  return reinterpret_cast<Function*>(driver_function(name, version));
}

}  // namespace

void* driver_function(const char* name, unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t error = cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found);
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess || function == nullptr)
    throw Error(ErrorKind::environment, std::string("the CUDA driver has no ") + name + ": install a newer driver");
  return function;
}

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  driver<decltype(cuGetErrorString)>("cuGetErrorString", 6000)(result, &text);
  throw Error(ErrorKind::environment, std::string(what) + ": " + (text == nullptr ? "unknown error" : text));
}

std::pair<std::vector<Partition>, int> make_partitions(const CudaDevice& device, int parts) {
  const int each = device.multiprocessors / parts / kGranularity * kGranularity;
  if (each == 0)
    throw Error(ErrorKind::cell, std::to_string(parts) + " ranks cannot share device " + std::to_string(device.index) +
                                     " (" + device.name + "): its " + std::to_string(device.multiprocessors) +
                                     " multiprocessors make at most " +
                                     std::to_string(device.multiprocessors / kGranularity) + " parts of " +
                                     std::to_string(kGranularity) + ": lower cp, or use more devices");
  check(cudaFree(nullptr), "the context of the device");  // made now: partitions belong to it
  CUdevice handle = 0;
  check(driver<decltype(cuDeviceGet)>("cuDeviceGet", 2000)(&handle, device.index), "cuDeviceGet");
  CUdevResource all{};
  check(driver<decltype(cuDeviceGetDevResource)>("cuDeviceGetDevResource", kGreenContexts)(handle, &all,
                                                                                           CU_DEV_RESOURCE_TYPE_SM),
        "cuDeviceGetDevResource");
  std::vector<CUdevResource> pieces(static_cast<std::size_t>(parts));
  auto made = static_cast<unsigned>(parts);
  CUdevResource rest{};
  check(driver<decltype(cuDevSmResourceSplitByCount)>("cuDevSmResourceSplitByCount", kGreenContexts)(
            pieces.data(), &made, &all, &rest, 0, static_cast<unsigned>(each)),
        "cuDevSmResourceSplitByCount");
  if (made != static_cast<unsigned>(parts))
    throw Error(ErrorKind::cell, "device " + std::to_string(device.index) + " (" + device.name + ") has " +
                                     std::to_string(made) + " parts of " + std::to_string(each) +
                                     " multiprocessors, not " + std::to_string(parts) + ": lower cp");
  const auto generate = driver<decltype(cuDevResourceGenerateDesc)>("cuDevResourceGenerateDesc", kGreenContexts);
  const auto create = driver<decltype(cuGreenCtxCreate)>("cuGreenCtxCreate", kGreenContexts);
  const auto destroy = driver<decltype(cuGreenCtxDestroy)>("cuGreenCtxDestroy", kGreenContexts);
  std::vector<Partition> partitions;
  for (CUdevResource& piece : pieces) {
    CUdevResourceDesc description = nullptr;
    check(generate(&description, &piece, 1), "cuDevResourceGenerateDesc");
    CUgreenCtx context = nullptr;
    check(create(&context, description, handle, CU_GREEN_CTX_DEFAULT_STREAM), "cuGreenCtxCreate");
    partitions.emplace_back(context, [destroy](CUgreenCtx last) { destroy(last); });
  }
  return {std::move(partitions), static_cast<int>(pieces[0].sm.smCount)};
}

cudaStream_t partition_stream(const Partition& partition) {
  CUstream stream = nullptr;
  check(driver<decltype(cuGreenCtxStreamCreate)>("cuGreenCtxStreamCreate", kGreenStreams)(&stream, partition.get(),
                                                                                          CU_STREAM_NON_BLOCKING, 0),
        "cuGreenCtxStreamCreate");
  return stream;
}

}  // namespace megaup::core
