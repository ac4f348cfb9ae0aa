#include <megaup/experiments/text_file.hpp>

#include <cerrno>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include <megaup/core/error.hpp>

namespace megaup::experiments {
namespace {

constexpr std::streamsize kMaxBytes = (1 << 20) + 1;  // one more than a file may have: enough to refuse it

}  // namespace

std::string read_text_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes(static_cast<std::size_t>(kMaxBytes), '\0');
  if (in) in.read(bytes.data(), kMaxBytes);
  if (in.bad() || (!in && !in.eof()))
    throw core::Error(core::ErrorKind::usage,
                      fmt::format("{}: cannot be read: {}", path.string(), std::generic_category().message(errno)));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

}  // namespace megaup::experiments
