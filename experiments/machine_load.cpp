#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include <megaup/core/error.hpp>
#include <megaup/experiments/diagnostics.hpp>
#include <megaup/experiments/embedded.hpp>
#include <megaup/experiments/machine_file.hpp>
#include <megaup/experiments/map_reader.hpp>
#include <megaup/experiments/text_file.hpp>

namespace megaup::experiments {
namespace {

std::string stem(const core::EmbeddedFile& file) { return std::string(file.name.substr(0, file.name.rfind('.'))); }

}  // namespace

std::vector<std::string> shipped_machines() {
  std::vector<std::string> names;
  for (const auto& file : embedded_machines()) names.push_back(stem(file));
  return names;
}

MachineFile load_machine(const std::string& argument) {
  std::error_code error;
  const bool folder = std::filesystem::is_directory(argument, error);
  if (!folder && std::filesystem::exists(argument, error)) {
    std::string yaml = read_text_file(argument);
    auto machine = parse_machine(yaml, argument);
    return {argument, std::move(yaml), std::move(machine)};
  }
  const auto names = shipped_machines();
  for (const auto& file : embedded_machines())
    if (stem(file) == argument)
      return {argument, std::string(file.bytes),
              parse_machine(file.bytes, fmt::format("experiments/machines/{}", file.name))};
  throw core::Error(core::ErrorKind::usage,
                    fmt::format("{}: {}, and no shipped machine of that name{}", in_quotes(argument),
                                folder ? "a folder" : "no such file",
                                suggestion(argument, std::vector<std::string_view>(names.begin(), names.end()))));
}

}  // namespace megaup::experiments
