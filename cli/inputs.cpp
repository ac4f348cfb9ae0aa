#include <megaup/cli/inputs.hpp>

#include <system_error>

#include <fmt/format.h>

#include <megaup/core/error.hpp>
#include <megaup/core/text.hpp>

namespace megaup::cli {

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code none;  // a name that is no file is no other one either
  return std::filesystem::equivalent(a, b, none);
}

void protect_inputs(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& output) {
  for (const auto& input : inputs)
    if (same_file(input, output))
      throw core::Error(core::ErrorKind::usage,
                        fmt::format("{} is read and would be replaced: another -o", core::one_line(input.string())));
}

}  // namespace megaup::cli
