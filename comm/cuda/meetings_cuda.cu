#include <megaup/comm/cuda/meetings_cuda.cuh>

#include <span>
#include <vector>

namespace megaup::comm::cuda {

Meetings::Meetings(DeviceCommunicator& group, int series)
    : group_(group),
      series_(static_cast<std::size_t>(series)),
      peers_(group.peer_memory(bytes(), 0)),
      local_(group.own_device(), (series_ + 1) * sizeof(std::uint32_t)) {
  std::vector<std::uint32_t> words(series_ + 1, 1);
  words.back() = 0;
  group.own_device().copy_in(local_.data(), std::as_bytes(std::span(words)));
}

std::uint32_t* Meetings::word(int at, int series, int from) const {
  const int index = series * group_.size() + from;
  return reinterpret_cast<std::uint32_t*>(peers_->base(at) + kFlagStride * static_cast<std::size_t>(index));
}

device::Arrivals Meetings::arrivals(int series) const {
  auto* const local = local_.as<std::uint32_t>();
  return {.words = word(group_.rank(), series, 0),
          .epoch = local + series,
          .patience = {.lost = local + series_, .timeout_ns = group_.timeout_ns()},
          .senders = group_.size(),
          .self = group_.rank()};
}

void Meetings::assume_peers_arrived() {
  constexpr std::uint8_t kFarAhead = 0x3f;  // of each byte: still less than half the range of the difference
  group_.own_device().fill(peers_->base(group_.rank()), bytes(), kFarAhead);
}

std::uint32_t Meetings::lost() const {
  std::uint32_t word = 0;
  group_.own_device().copy_out(std::as_writable_bytes(std::span(&word, 1)),
                               local_.data() + series_ * sizeof(std::uint32_t));
  return word;
}

}  // namespace megaup::comm::cuda
