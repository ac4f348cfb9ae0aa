#include <megaup/ops/device_parts_cuda.cuh>

#include <algorithm>
#include <limits>
#include <string>

#include <megaup/ops/prepared_kernel_cuda.cuh>
#include <megaup/ops/random_input.hpp>

namespace megaup::ops {
namespace {

struct Capability {
  int major = 0, minor = 0;
  std::string words() const { return std::to_string(major) + "." + std::to_string(minor); }
};

Capability capability(const core::Device& device) {
  Capability value;
  device::check(cudaDeviceGetAttribute(&value.major, cudaDevAttrComputeCapabilityMajor, device.index()),
                "compute capability");
  device::check(cudaDeviceGetAttribute(&value.minor, cudaDevAttrComputeCapabilityMinor, device.index()),
                "compute capability");
  return value;
}

constexpr std::int64_t kRowAlignment = 16 / core::kElementBytes;  // bulk tensor copies move multiples of 16 bytes

void require_aligned(const core::Bf16Matrix& matrix, std::string_view name, int rank) {
  if (matrix.columns > 0 && matrix.ld % kRowAlignment != 0)
    throw core::Error(core::ErrorKind::cell,
                      "rows of " + std::string(name) + " are " + std::to_string(matrix.ld) +
                          " elements apart: bulk tensor copies need a multiple of " + std::to_string(kRowAlignment),
                      rank);
}

}  // namespace

core::Reason unsound_on_device(const core::Problem& problem, const Context& context) {
  if (auto why = unsound(problem, context)) return why;
  const core::Device* device = context.communicator.device();
  if (device == nullptr)
    return "runs on a CUDA device, and this communicator (" + std::string(context.communicator.backend()) +
           ") has none";
  if (head_copy_loadable() != cudaSuccess)
    return "this program has no kernels for a device of compute capability " + capability(*device).words();
  if (problem.B * problem.S() > std::numeric_limits<std::int32_t>::max())
    return std::to_string(problem.B * problem.S()) + " rows of the heads do not fit the 32-bit row tables of a device";
  return {};
}

core::Reason unsound_on_device(const core::Problem& problem, const Context& context, comm::Transport transport) {
  if (auto why = unsound_on_device(problem, context)) return why;
  return context.communicator.no_transport(transport);
}

core::Reason no_fused_kernels(const core::Device& device) {
  const Capability has = capability(device);
  return no_fused_kernels(has.major, has.minor);
}

Architecture architecture_of(const core::Device& device) {
  const Capability has = capability(device);
  if (const auto architecture = fused_architecture(has.major, has.minor)) return *architecture;
  throw core::Error(core::ErrorKind::environment, *no_fused_kernels(has.major, has.minor));
}

DeviceSetting fused_setting(const Context& context) {
  DeviceSetting setting = device_setting(context);
  setting.architecture = architecture_of(*context.communicator.device());
  return setting;
}

void require_aligned_rows(const Operands& operands) {
  require_aligned(operands.device_hidden(), "the hidden side", operands.rank());
  require_aligned(operands.device_weight(), "the weight", operands.rank());
  for (const core::Bf16Matrix& tensor : operands.device_heads(operands.rank()).tensor)
    require_aligned(tensor, "the heads", operands.rank());
}

DeviceWide::DeviceWide(core::Device& device, const Operands& operands, std::int64_t rows)
    : memory_(device, static_cast<std::size_t>(bytes(operands.operation(), operands.problem(), rows))) {
  const std::int64_t W = core::HeadLayout{operands.problem(), operands.operation().columns}.width();
  matrix_ = {memory_.as<core::Bf16>(), rows, W, W};
}

std::int64_t device_exchange_bytes(const core::Problem& problem, std::int64_t slab_columns, std::int64_t rows,
                                   int slots) {
  constexpr std::int64_t kBuffers = 3, kPage = 4096, kWord = 4;
  const std::int64_t slabs = problem.P * rows * slab_columns * core::kElementBytes;
  return kBuffers * slots * ((slabs + kPage - 1) / kPage * kPage) +
         slots * problem.P * static_cast<std::int64_t>(comm::kFlagStride) + (slots + 1) * kWord;
}

void poison_on_device(comm::Exchange& exchange, core::Device& device, int ranks) {
  const std::size_t bytes = exchange.shape().bytes_per_peer * static_cast<std::size_t>(ranks);
  for (int slot = 0; slot < exchange.shape().slots; ++slot) {
    device.fill(exchange.send(slot), bytes, 0xFF);
    for (int set = 0; set < exchange.receive_sets(); ++set) {
      exchange.start(slot);
      exchange.finish(slot);
    }
  }
  device.synchronize();
}

void fill_random(core::Device& device, std::byte* to, std::size_t bytes, int rank) {
  constexpr std::size_t kBlock = (std::size_t{1} << 22) + 9901;  // no multiple of a row: rows differ
  const RandomInput random({.seed = 1}, InputTensor::query, rank);
  std::vector<core::Bf16> block(std::min(kBlock, bytes / sizeof(core::Bf16)));
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = random(static_cast<std::int64_t>(i));
  const auto source = std::as_bytes(std::span(block));
  for (std::size_t done = 0; done < bytes; done += source.size())
    device.copy_in(to + done, source.first(std::min(source.size(), bytes - done)));
}

void assume_peers_sent(comm::Exchange& exchange, core::Device& device, int ranks, int rank) {
  exchange.assume_peers_arrived();
  const std::size_t bytes = exchange.shape().bytes_per_peer * static_cast<std::size_t>(ranks);
  for (int slot = 0; slot < exchange.shape().slots; ++slot)
    for (int set = 0; set < exchange.receive_sets(); ++set) {
      exchange.start(slot);
      exchange.finish(slot);
      // The exchange's to write; in the peers' stead, who will not.
      fill_random(device, const_cast<std::byte*>(exchange.recv(slot)), bytes, rank);
    }
}

DeviceFlags::DeviceFlags(const Context& context, std::int64_t peer_words, std::int64_t local_words)
    : device_(context.communicator.device()),
      rank_(context.communicator.rank()),
      ranks_(context.communicator.size()),
      local_(*device_, static_cast<std::size_t>(bytes(0, local_words))),
      peers_(context.communicator.peer_memory(static_cast<std::size_t>(bytes(peer_words, 0)), 0)) {
  device_->fill(local_.data(), local_.size(), 0);  // the peers' memory is zero when it comes
}

void DeviceFlags::assume_peers_arrived() {
  constexpr std::uint32_t kFarAhead = 0x3fffffff;  // still less than half the range of the difference
  std::vector<std::uint32_t> words(peers_->bytes() / sizeof(std::uint32_t));
  device_->copy_out(std::as_writable_bytes(std::span(words)), peers_->base(rank_));
  for (std::size_t i = 0; i < words.size(); ++i)
    if (static_cast<int>(i) % ranks_ != rank_) words[i] = kFarAhead;
  device_->copy_in(peers_->base(rank_), std::as_bytes(std::span(words)));
}

std::uint32_t DeviceFlags::take(int word) {
  std::uint32_t value = 0;
  std::byte* const at = reinterpret_cast<std::byte*>(local() + word);
  device_->copy_out(std::as_writable_bytes(std::span(&value, 1)), at);
  if (value != 0) device_->fill(at, sizeof value, 0);
  return value;
}

}  // namespace megaup::ops
