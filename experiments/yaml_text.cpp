#include <fmt/format.h>

#include <megaup/experiments/utf8.hpp>
#include <megaup/experiments/yaml_tree.hpp>

namespace megaup::experiments {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;
constexpr int kMaxReported = 10;  // a binary file is wrong everywhere; ten places are enough to see it

/// A tab among the blanks that start a line, unless only a comment or nothing follows.
std::optional<int> tab_in_indentation(std::string_view line) {
  const std::size_t content = line.find_first_not_of(" \t\r");
  if (content == std::string_view::npos || line[content] == '#') return {};
  const std::size_t tab = line.substr(0, content).find('\t');
  if (tab == std::string_view::npos) return {};
  return static_cast<int>(tab);
}

/// The first character of a line that no spec may hold.
void check_line(std::string_view line, int number, Diagnostics& diagnostics, int& reported) {
  if (const auto tab = tab_in_indentation(line)) {
    ++reported;
    diagnostics.add({number, *tab}, "tab used as indentation: YAML indents with spaces");
  }
  for (std::size_t i = 0; i < line.size();) {
    const auto c = utf8_character(line.substr(i));
    const bool line_end = c && c->code == '\r' && i + 1 == line.size();
    if (!c || (is_control(c->code) && c->code != '\t' && !line_end)) {
      ++reported;
      diagnostics.add({number, static_cast<int>(i)},
                      c ? fmt::format("control character U+{:04X}", c->code)
                        : fmt::format("byte 0x{:02X} is not UTF-8", static_cast<unsigned char>(line[i])));
      return;
    }
    i += c->bytes;
  }
}

}  // namespace

bool check_yaml_text(std::string_view text, Diagnostics& diagnostics) {
  if (text.size() > kMaxBytes) {
    diagnostics.add({}, fmt::format("{} bytes: a file of this kind may have at most {}", text.size(), kMaxBytes));
    return false;
  }
  if (text.starts_with("\xef\xbb\xbf")) {
    diagnostics.add({}, "starts with a byte order mark: save it as UTF-8 without one");
    return false;
  }
  int reported = 0;
  for (int number = 0; !text.empty() && reported < kMaxReported; ++number) {
    const std::size_t end = text.find('\n');
    check_line(text.substr(0, end), number, diagnostics, reported);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return reported == 0;
}

}  // namespace megaup::experiments
