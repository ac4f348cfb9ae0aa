#include <megaup/experiments/diagnostics.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <megaup/core/error.hpp>
#include <megaup/experiments/utf8.hpp>

namespace megaup::experiments {
namespace {

constexpr std::size_t kShownErrors = 50;
constexpr std::size_t kShownValue = 60;  // characters of a value in a message
constexpr std::size_t kShownBefore =
    100;  // bytes of a source line before the caret: a generated file may be one long line
constexpr std::size_t kShownAfter = 60;
constexpr std::size_t kShownLine = 140;  // bytes that are shown in any case

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (true) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

/// Appends one character of `text` in a form that is safe on a terminal, and returns its bytes. Tabs stay tabs.
std::size_t append_visible(std::string& out, std::string_view text) {
  const auto c = utf8_character(text);
  if (!c || (is_control(c->code) && c->code != '\t')) {
    out += "\xef\xbf\xbd";  // the replacement character
    return c ? c->bytes : 1;
  }
  out += text.substr(0, c->bytes);
  return c->bytes;
}

bool inside_character(std::string_view line, std::size_t i) {
  return i < line.size() && (static_cast<unsigned char>(line[i]) & 0xc0) == 0x80;
}

}  // namespace

Diagnostics::Diagnostics(std::string file, std::string_view text) : file_(std::move(file)), lines_(split_lines(text)) {}

void Diagnostics::add(TextPosition where, std::string message) { entries_.push_back({where, std::move(message)}); }

std::string Diagnostics::excerpt(TextPosition where) const {
  if (where.line < 0 || static_cast<std::size_t>(where.line) >= lines_.size()) return {};
  std::string_view line = lines_[static_cast<std::size_t>(where.line)];
  const std::size_t caret = std::min(static_cast<std::size_t>(std::max(where.column, 0)), line.size());
  std::size_t begin = caret > kShownBefore ? caret - kShownBefore : 0;
  while (inside_character(line, begin)) ++begin;
  std::size_t end = std::min(line.size(), std::max(caret + kShownAfter, kShownLine));
  while (inside_character(line, end)) ++end;

  std::string shown = begin > 0 ? "  ..." : "  ";
  std::string marker(shown.size(), ' ');
  for (std::size_t i = begin; i < end;) {
    if (i < caret) marker += line[i] == '\t' ? '\t' : ' ';
    i += append_visible(shown, line.substr(i));
  }
  return fmt::format("{}{}\n{}^\n", shown, end < line.size() ? "..." : "", marker);
}

std::string Diagnostics::report() const {
  std::vector<Entry> sorted = entries_;
  std::ranges::sort(sorted);
  // A value behind an alias is read once for each use, and is wrong each time.
  const auto repeated = std::ranges::unique(sorted);
  sorted.erase(repeated.begin(), repeated.end());

  if (sorted.empty()) return {};

  std::string out = fmt::format("{} error{} in {}\n", sorted.size(), sorted.size() > 1 ? "s" : "", file_);
  for (std::size_t i = 0; i < std::min(sorted.size(), kShownErrors); ++i) {
    const auto& [where, message] = sorted[i];
    std::string_view line;
    if (where.line >= 0 && static_cast<std::size_t>(where.line) < lines_.size())
      line = lines_[static_cast<std::size_t>(where.line)];
    const auto column = utf8_length(line.substr(0, static_cast<std::size_t>(std::max(where.column, 0))));
    out += fmt::format("{}:{}:{}: error: {}\n{}", file_, where.line + 1, column + 1, message, excerpt(where));
  }
  if (sorted.size() > kShownErrors) out += fmt::format("... and {} more errors\n", sorted.size() - kShownErrors);
  out.pop_back();
  return out;
}

void Diagnostics::throw_if_any() const {
  if (!entries_.empty()) throw core::Error(core::ErrorKind::usage, report());
}

std::string in_quotes(std::string_view value) {
  std::string out = "'";
  std::size_t n = 0;
  while (!value.empty()) {
    if (n++ == kShownValue) {
      out += "...";
      break;
    }
    value.remove_prefix(append_visible(out, value));
  }
  return out + "'";
}

}  // namespace megaup::experiments
