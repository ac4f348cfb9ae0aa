#include <megaup/experiments/agreement.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace megaup::experiments {

void agree(comm::Communicator& world, core::ErrorKind kind, const core::Reason& mine) {
  // The kind travels with the text: only the rank that has a reason knows it.
  const auto said = mine ? fmt::format("{}{}", static_cast<int>(kind), *mine) : std::string();
  const auto reasons = world.all_gather(std::string_view(said));
  for (std::size_t rank = 0; rank < reasons.size(); ++rank)
    if (!reasons[rank].empty())
      throw AgreedError(static_cast<core::ErrorKind>(reasons[rank][0] - '0'), reasons[rank].substr(1), static_cast<int>(rank));
}

Deadline::Deadline(comm::Communicator& world, const std::atomic<bool>& stop, double seconds)
    : world_(world),
      stop_(stop),
      seconds_(seconds),
      end_(std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds))) {}

std::chrono::duration<double> Deadline::left() const {
  return std::max(std::chrono::duration<double>::zero(), std::chrono::duration<double>(end_ - std::chrono::steady_clock::now()));
}

bool Deadline::passed() const { return stop_.load(std::memory_order_relaxed) || left().count() == 0; }

void Deadline::check() {
  if (!passed_anywhere()) return;
  if (world_.any(stop_.load(std::memory_order_relaxed))) throw AgreedError(core::ErrorKind::stopped, "stopped on request while this cell was measured");
  throw AgreedError(core::ErrorKind::cell,
                    fmt::format("took longer than measure.cell_timeout ({} s): raise it, or choose fewer tokens_per_rank", seconds_));
}

}  // namespace megaup::experiments
