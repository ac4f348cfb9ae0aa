#include <megaup/comm/mpi/detail/notice.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include <fmt/format.h>

namespace megaup::comm::mpi {
namespace {

std::atomic_ref<std::uint32_t> atomic(std::uint32_t& word) { return std::atomic_ref<std::uint32_t>(word); }
static_assert(std::atomic_ref<std::uint32_t>::is_always_lock_free, "the notice is shared between processes");

/// Until done() or for some seconds: the process that is waited for may have died in the middle.
template <class Done>
bool wait_for(Done done) {
  for (int ms = 0; ms < 3000 && !done(); ++ms) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return done();
}

}  // namespace

bool aborted(Notice& notice) noexcept { return atomic(notice.aborted_by).load(std::memory_order_acquire) != 0; }
bool told(Notice& notice) noexcept { return atomic(notice.told).load(std::memory_order_acquire) == 2; }

bool claim(Notice& notice, int rank) noexcept {
  const std::uint32_t mine = static_cast<std::uint32_t>(rank) + 1;
  std::uint32_t holder = 0;
  return atomic(notice.claimed_by).compare_exchange_strong(holder, mine) || holder == mine;
}

void publish(Notice& notice, const core::Error& cause, int rank) noexcept {
  if (aborted(notice)) return;
  if (!claim(notice, rank) && wait_for([&] { return aborted(notice); })) return;
  const std::size_t length = std::min(std::strlen(cause.what()), Notice::kTextBytes - 1);
  std::memcpy(notice.text, cause.what(), length);
  notice.text[length] = '\0';
  notice.kind = static_cast<std::uint32_t>(cause.kind());
  atomic(notice.aborted_by).store(static_cast<std::uint32_t>(rank) + 1, std::memory_order_release);
}

void print_cause(const char* text, int rank) noexcept {
  std::fprintf(stderr, "rank %d: %s\n", rank, text);  // one call: lines of other processes stay apart
  std::fflush(stderr);
}

void tell(Notice& notice) noexcept {
  std::uint32_t untold = 0;
  if (!atomic(notice.told).compare_exchange_strong(untold, 1)) {
    wait_for([&] { return told(notice); });
    return;
  }
  print_cause(notice.text, static_cast<int>(notice.aborted_by) - 1);
  atomic(notice.told).store(2, std::memory_order_release);
}

core::Error first_cause(const Notice& notice) {
  return core::Error(static_cast<core::ErrorKind>(notice.kind), notice.text, static_cast<int>(notice.aborted_by) - 1);
}

}  // namespace megaup::comm::mpi
