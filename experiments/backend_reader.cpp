#include <megaup/experiments/backend_reader.hpp>

#include <vector>

#include <fmt/format.h>

#include <megaup/experiments/map_reader.hpp>

namespace megaup::experiments {
namespace {

TextPosition value_at(MapReader& reader, std::string_view key) {
  const YamlNode* node = reader.find(key);
  return node == nullptr ? reader.where(key) : node->where;
}

/// KERNEL or KERNEL/ORDER, the kernel a name or auto.
ops::KernelWish read_wish(MapReader& reader, std::string_view key, const KernelNames& known, Diagnostics& diagnostics) {
  constexpr std::string_view kAuto = "auto";
  const YamlNode* node = reader.find(key);
  if (node == nullptr) return {};
  YamlNode kernel{.kind = node->kind, .where = node->where, .text = node->text};
  YamlNode order = kernel;
  const std::size_t slash = node->text.find('/');
  const bool ordered = node->kind == YamlNode::Kind::scalar && slash != std::string::npos;
  if (ordered) {
    kernel.text = node->text.substr(0, slash);
    order.text = node->text.substr(slash + 1);
    order.where.column += static_cast<int>(slash) + 1 + (node->quoted ? 1 : 0);
  }
  std::vector<std::string_view> kernels{kAuto};
  kernels.insert(kernels.end(), known.kernels.begin(), known.kernels.end());
  ops::KernelWish wish;
  const auto which = read_choice(kernel, key, kernels, {}, diagnostics);
  if (which && kernels[*which] != kAuto) wish.kernel = kernels[*which];
  if (ordered)
    if (const auto at = read_choice(order, fmt::format("order of {}", key), known.orders, {}, diagnostics))
      wish.order = known.orders[*at];
  return wish;
}

void refuse_on_host(const Backend& backend, MapReader& reader, Diagnostics& diagnostics) {
  const auto refuse = [&](std::string_view key, std::string_view value) {
    diagnostics.add(value_at(reader, key), fmt::format("'{}: {}' is about GPUs: it needs 'device: cuda'", key, value));
  };
  if (backend.exchange != comm::Transport::automatic) refuse("exchange", name(backend.exchange));
  if (backend.share_device) refuse("share_device", "true");
  if (backend.solo) refuse("solo", "true");
  if (backend.push != ops::KernelWish{}) refuse("push", text(backend.push));
  if (backend.pull != ops::KernelWish{}) refuse("pull", text(backend.pull));
}

void check_on_device(Backend& backend, MapReader& reader, const KnownNames& known, Diagnostics& diagnostics) {
  if (known.cuda_arms.empty())
    diagnostics.add(value_at(reader, "device"), fmt::format("'device: cuda': {}", known.no_cuda_arms));
  if (backend.solo && reader.find("share_device") != nullptr && !backend.share_device)
    diagnostics.add(
        value_at(reader, "share_device"),
        "'share_device: false' cannot stand beside 'solo: true', in which all ranks have their memory on one device");
  if (backend.solo) backend.share_device = true;
  if (backend.share_device && backend.communicator == CommunicatorChoice::mpi)
    diagnostics.add(
        value_at(reader, "communicator"),
        "'communicator: mpi' cannot stand beside 'share_device: true': kernels of different processes do not run "
        "at the same time on one device; 'threads' can");
  if (backend.share_device && by_nccl(backend.exchange))
    diagnostics.add(
        value_at(reader, "exchange"),
        fmt::format(
            "'exchange: {}' cannot stand beside 'share_device: true': NCCL has one device a rank; 'copy_engine' can",
            name(backend.exchange)));
}

}  // namespace

Backend read_backend(const YamlNode& node, const KnownNames& known, Diagnostics& diagnostics) {
  Backend backend;
  MapReader reader(node, "backend", diagnostics);
  reader.choice("device", backend.device, {"host", "cuda"});
  reader.choice("communicator", backend.communicator, {"auto", "self", "threads", "mpi"});
  reader.choice("exchange", backend.exchange, {"auto", "nccl", "nccl_window", "nccl_zero_cta", "copy_engine"});
  reader.boolean("share_device", backend.share_device);
  reader.boolean("solo", backend.solo);
  backend.push = read_wish(reader, "push", known.push, diagnostics);
  backend.pull = read_wish(reader, "pull", known.pull, diagnostics);
  if (backend.device == DeviceKind::host)
    refuse_on_host(backend, reader, diagnostics);
  else
    check_on_device(backend, reader, known, diagnostics);
  reader.finish();
  return backend;
}

}  // namespace megaup::experiments
