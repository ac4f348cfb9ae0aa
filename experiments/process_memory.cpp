#include <megaup/experiments/process_memory.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

#include <megaup/core/buffer.hpp>

namespace megaup::experiments {
namespace {

/// The bytes of a line such as "VmHWM:     1234 kB" of a file of /proc/self.
std::optional<std::int64_t> bytes_of(const char* file, std::string_view key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const auto digits = line.find_first_of("0123456789");
    if (digits == std::string::npos) return {};
    std::int64_t kib = 0;
    const auto end = std::from_chars(line.data() + digits, line.data() + line.size(), kib);
    if (end.ec != std::errc{}) return {};
    return kib * 1024;
  }
  return {};
}

std::optional<std::int64_t> status_bytes(std::string_view key) { return bytes_of("/proc/self/status", key); }

/// Resident pages that are not this process's: those of files, and its peers' share of shared memory.
std::optional<std::int64_t> foreign_bytes() {
  const auto file = status_bytes("RssFile:"), shared = status_bytes("RssShmem:");
  if (!file || !shared) return {};
  if (*shared == 0) return file;
  const auto share = bytes_of("/proc/self/smaps_rollup", "Pss_Shmem:");
  if (!share) return {};
  return *file + *shared - *share;
}

/// Starts the mark of the highest resident memory anew.
bool reset_mark() {
  std::ofstream clear("/proc/self/clear_refs");
  clear << "5" << std::flush;
  return static_cast<bool>(clear);
}

}  // namespace

PeakMemory::PeakMemory() {
  const auto resident = status_bytes("VmRSS:"), foreign = foreign_bytes();
  if (resident && foreign && reset_mark()) before_ = *resident - *foreign;
}

void PeakMemory::look() {
  if (!before_) return;
  const auto mark = status_bytes("VmHWM:");
  core::give_back_freed_memory();  // or it would count in the next phase
  const auto foreign = foreign_bytes();
  if (!mark || !foreign || !reset_mark()) return;
  peak_ = std::max(peak_.value_or(0), *mark - *foreign - *before_);
}

}  // namespace megaup::experiments
