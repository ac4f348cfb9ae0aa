#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include <megaup/core/error.hpp>
#include <megaup/experiments/embedded.hpp>
#include <megaup/experiments/map_reader.hpp>
#include <megaup/experiments/spec.hpp>
#include <megaup/experiments/text_file.hpp>

namespace megaup::experiments {
namespace {

std::string_view stem(std::string_view file) { return file.substr(0, file.rfind('.')); }

}  // namespace

Spec load_spec(const std::string& argument, const KnownNames& known) {
  std::error_code error;
  const bool folder = std::filesystem::is_directory(argument, error);
  if (!folder && std::filesystem::exists(argument, error)) return parse_spec(read_text_file(argument), argument, known);
  std::vector<std::string_view> shipped;
  for (const auto& file : embedded_specs()) {
    if (stem(file.name) == argument) return parse_spec(file.bytes, argument, known);
    shipped.push_back(stem(file.name));
  }
  throw core::Error(core::ErrorKind::usage,
                    fmt::format("{}: {}, and no shipped spec of that name{}", in_quotes(argument),
                                folder ? "a folder" : "no such file", suggestion(argument, shipped)));
}

}  // namespace megaup::experiments
