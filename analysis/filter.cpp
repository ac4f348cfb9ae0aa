#include <megaup/analysis/filter.hpp>

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/core/error.hpp>

namespace megaup::analysis {
namespace {

constexpr std::array<std::string_view, 10> kKeys{"model",     "cp",     "tokens_per_rank", "status", "baseline",
                                                 "candidate", "source", "fabric",          "cell",   "file"};

std::string value_of(const Row& row, std::string_view key) {
  if (key == "model") return row.model;
  if (key == "cp") return fmt::format("{}", row.cp);
  if (key == "tokens_per_rank") return fmt::format("{}", row.tokens_per_rank);
  if (key == "status") return row.status;
  if (key == "baseline") return row.baseline;
  if (key == "candidate") return row.candidate;
  if (key == "source") return row.source;
  if (key == "fabric") return row.fabric;
  if (key == "cell") return row.cell;
  return row.file;
}

/// The same number has one spelling afterwards ("08" and "8").
std::string whole_number(std::string_view key, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw core::Error(core::ErrorKind::usage,
                      fmt::format("--filter: {}={}: a whole number is needed, as {}=8", key, text, key));
  return fmt::format("{}", value);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

Filter::Filter(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    std::string_view rest = text;
    while (true) {
      const std::size_t comma = rest.find(',');
      add(trimmed(rest.substr(0, comma)));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
}

void Filter::add(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    throw core::Error(core::ErrorKind::usage,
                      fmt::format("--filter: '{}' has no '='; write key=value,key=value with the keys {}", text,
                                  fmt::join(kKeys, ", ")));
  const std::string_view key = trimmed(text.substr(0, equals));
  const std::string_view value = trimmed(text.substr(equals + 1));
  if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
    throw core::Error(core::ErrorKind::usage,
                      fmt::format("--filter: unknown key '{}'; known are {}", key, fmt::join(kKeys, ", ")));

  const bool counts = key == "cp" || key == "tokens_per_rank";
  const std::string wanted = counts ? whole_number(key, value) : std::string(value);
  const auto same = std::find_if(terms_.begin(), terms_.end(), [&](const Term& term) { return term.key == key; });
  if (same != terms_.end())
    same->values.push_back(wanted);
  else
    terms_.push_back({std::string(key), {wanted}});
}

bool Filter::accepts(const Row& row) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    return std::find(term.values.begin(), term.values.end(), value_of(row, term.key)) != term.values.end();
  });
}

}  // namespace megaup::analysis
