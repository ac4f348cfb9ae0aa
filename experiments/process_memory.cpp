#include <megaup/experiments/process_memory.hpp>

#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

namespace megaup::experiments {
namespace {

/// A line of /proc/self/status such as "VmHWM:     1234 kB".
std::optional<std::int64_t> status_bytes(std::string_view key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
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

}  // namespace

std::optional<std::int64_t> resident_bytes() { return status_bytes("VmRSS:"); }
std::optional<std::int64_t> peak_resident_bytes() { return status_bytes("VmHWM:"); }

bool reset_peak_resident() {
  std::ofstream clear("/proc/self/clear_refs");
  clear << "5" << std::flush;  // 5 = reset the high-water mark only
  return static_cast<bool>(clear);
}

}  // namespace megaup::experiments
