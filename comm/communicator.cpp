#include <megaup/comm/communicator.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace megaup::comm {
namespace {

/// Throws on all ranks if `mine` differs between ranks; a rank that went on with another size would hang or corrupt its
/// peers.
void require_same(Communicator& communicator, std::array<std::uint64_t, 2> mine, const char* call, const char* first,
                  const char* second) {
  const std::vector<std::byte> all = communicator.all_gather(std::as_bytes(std::span(mine)));
  for (int rank = 1; rank < communicator.size(); ++rank) {
    std::array<std::uint64_t, 2> zero{}, other{};
    std::memcpy(&zero, all.data(), sizeof zero);
    std::memcpy(&other, all.data() + static_cast<std::size_t>(rank) * sizeof other, sizeof other);
    if (other != zero)
      throw core::Error(
          core::ErrorKind::cell,
          fmt::format(
              "{}: ranks ask for different sizes: rank 0 {} = {}, {} = {}; rank {} of the group {} = {}, {} = {}", call,
              first, zero[0], second, zero[1], rank, first, other[0], second, other[1]));
  }
}

}  // namespace

core::Reason Communicator::do_no_transport(Transport transport) const {
  if (transport == Transport::automatic) return {};
  return fmt::format("exchange {} moves memory of devices: this communicator ({}) has none", name(transport), backend());
}

bool Communicator::any(bool mine) { return do_any(mine); }

std::vector<std::byte> Communicator::all_gather(std::span<const std::byte> mine) {
  std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(size_));
  do_all_gather(mine, all);
  return all;
}

std::vector<double> Communicator::all_gather(double mine) {
  std::vector<double> all(static_cast<std::size_t>(size_));
  do_all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  return all;
}

std::vector<std::string> Communicator::all_gather(std::string_view mine) {
  const std::uint64_t length = mine.size();
  std::vector<std::uint64_t> lengths(static_cast<std::size_t>(size_));
  do_all_gather(std::as_bytes(std::span(&length, 1)), std::as_writable_bytes(std::span(lengths)));

  const std::size_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::string padded(mine);
  padded.resize(longest);
  const std::vector<std::byte> all = all_gather(std::as_bytes(std::span<const char>(padded)));
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank)
    texts.emplace_back(reinterpret_cast<const char*>(all.data()) + rank * longest, lengths[rank]);
  return texts;
}

std::unique_ptr<Communicator> Communicator::split(int colour) {
  if (colour < 0) throw core::Error(core::ErrorKind::cell, fmt::format("split: colour {} is negative", colour), rank_);
  return do_split(colour);
}

std::unique_ptr<Exchange> Communicator::exchange(const ExchangeShape& shape) {
  if (shape.slots < 1)
    throw core::Error(core::ErrorKind::cell, fmt::format("exchange: {} slots, at least 1", shape.slots), rank_);
  const std::size_t blocks = static_cast<std::size_t>(size_) * static_cast<std::size_t>(shape.slots);
  if (shape.bytes_per_peer > std::numeric_limits<std::size_t>::max() / 2 / blocks)
    throw core::Error(core::ErrorKind::cell,
                      fmt::format("exchange: {} bytes per peer are too many", shape.bytes_per_peer), rank_);
  if (core::Reason reason = no_transport(shape.transport)) throw core::Error(core::ErrorKind::cell, *reason, rank_);
  require_same(*this, {shape.bytes_per_peer, static_cast<std::uint64_t>(shape.slots)}, "exchange", "bytes_per_peer",
               "slots");
  return do_exchange(shape);
}

std::unique_ptr<PeerMemory> Communicator::peer_memory(std::size_t bytes, std::size_t flags) {
  if (core::Reason reason = no_peer_memory())
    throw core::Error(core::ErrorKind::cell, "peer memory: " + *reason, rank_);
  require_same(*this, {bytes, flags}, "peer memory", "bytes", "flags");
  return do_peer_memory(bytes, flags);
}

}  // namespace megaup::comm
