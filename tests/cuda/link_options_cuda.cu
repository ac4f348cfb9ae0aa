#include <link_options_cuda.cuh>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include <megaup/core/error.hpp>

namespace megaup::cuda_tests {
namespace {

constexpr Duty kDuties[] = {{"blocked", 0, true}, {"sustained", 0}, {"mixed", 0.5}, {"spaced", 4}};

/// The number after `key`, if the argument begins with it.
/// The positive number behind `key`, all of it.
template <class Number>
std::optional<Number> number(std::string_view argument, std::string_view key) {
  if (!argument.starts_with(key)) return {};
  argument.remove_prefix(key.size());
  Number value = 0;
  const auto [end, error] = std::from_chars(argument.data(), argument.data() + argument.size(), value);
  if (error != std::errc() || end != argument.data() + argument.size() || value <= 0) return {};
  return value;
}

bool take(LinkOptions& options, std::string_view argument) {
  if (const auto model = std::ranges::find(models(), argument, &Model::name); model != models().end()) {
    options.models.push_back(*model);
    return true;
  }
  if (const auto duty = std::ranges::find(kDuties, argument, &Duty::name); duty != std::end(kDuties)) {
    options.duties.push_back(*duty);
    return true;
  }
  if (const ops::Operation* operation = ops::find_operation(argument)) {
    options.operations.push_back(operation);
    return true;
  }
  const auto rows = number<std::int64_t>(argument, "M=");
  const auto ranks = number<int>(argument, "ranks="), seconds = number<int>(argument, "seconds=");
  if (rows) options.M.push_back(*rows);
  if (ranks) options.ranks = *ranks;
  if (seconds) options.seconds = *seconds;
  return rows || ranks || seconds;
}

void fill_in(LinkOptions& options) {
  if (options.models.empty()) options.models.assign(models().begin(), models().begin() + 3);
  if (options.duties.empty()) options.duties.assign(std::begin(kDuties), std::end(kDuties));
  if (options.M.empty()) options.M = {8192};
  if (options.operations.empty()) options.operations.assign(ops::operations().begin(), ops::operations().end());
}

}  // namespace

LinkOptions link_options(std::span<char* const> words) {
  LinkOptions options;
  for (const char* word : words)
    if (!take(options, word))
      throw core::Error(
          core::ErrorKind::usage,
          "'" + std::string(word) + "' is no argument of this program: see the first lines of its source");
  fill_in(options);
  return options;
}

}  // namespace megaup::cuda_tests
