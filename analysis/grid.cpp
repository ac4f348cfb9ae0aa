#include <megaup/analysis/grid.hpp>

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include <megaup/analysis/text.hpp>

namespace megaup::analysis {
namespace {

constexpr std::size_t kGap = 2;          // columns between two columns
constexpr std::size_t kLeastProse = 16;  // narrower than this, wrapped prose is harder to read than a paragraph

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::size_t used = display_width(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return right ? space + text : text + space;
}

void add_line(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line;
  out += '\n';
}

/// Widths of the longest texts below the titles.
std::vector<std::size_t> text_widths(const Grid& grid) {
  std::vector<std::size_t> widths(grid.columns.size(), 1);
  for (const auto& row : grid.rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  return widths;
}

/// A title over several lines of at most `width` columns if possible, broken at spaces and behind underscores.
std::vector<std::string> title_lines(std::string_view title, std::size_t width) {
  std::vector<std::string> lines{""};
  std::string_view glue;
  while (!title.empty()) {
    const std::size_t end = title.find_first_of(" _");
    const bool underscore = end != std::string_view::npos && title[end] == '_';
    const std::string_view piece = title.substr(0, underscore ? end + 1 : end);
    if (!lines.back().empty() && display_width(lines.back()) + glue.size() + display_width(piece) > width)
      lines.emplace_back(piece);
    else
      lines.back().append(glue).append(piece);
    title.remove_prefix(end == std::string_view::npos ? title.size() : end + 1);
    glue = underscore ? "" : " ";
  }
  return lines;
}

/// The narrowest columns: as wide as their texts and the longest piece of their titles.
std::vector<std::size_t> narrow_widths(const Grid& grid, std::vector<std::size_t> widths) {
  for (std::size_t i = 0; i < widths.size(); ++i)
    for (const std::string& piece : title_lines(grid.columns[i].title, 0))
      widths[i] = std::max(widths[i], display_width(piece));
  return widths;
}

std::vector<std::size_t> wide_widths(const Grid& grid, std::vector<std::size_t> widths) {
  for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], display_width(grid.columns[i].title));
  return widths;
}

/// Columns taken by all but the last one.
std::size_t width_before_last(const std::vector<std::size_t>& widths) {
  std::size_t before = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) before += widths[i] + kGap;
  return before;
}

/// Titles stand on the rule: a short one has empty lines above.
void add_titles(std::string& out, const Grid& grid, const std::vector<std::size_t>& widths) {
  std::vector<std::vector<std::string>> titles;
  std::size_t height = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    titles.push_back(title_lines(grid.columns[i].title, widths[i]));
    height = std::max(height, titles.back().size());
  }
  for (std::size_t line = 0; line < height; ++line) {
    std::string text;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::size_t above = height - titles[i].size();
      text += padded(line < above ? "" : titles[i][line - above], widths[i], grid.columns[i].right) +
              std::string(kGap, ' ');
    }
    add_line(out, text);
  }
  std::string rule;
  for (const std::size_t width : widths) rule += std::string(width, '-') + std::string(kGap, ' ');
  add_line(out, rule);
}

void add_row(std::string& out, const Grid& grid, const std::vector<std::size_t>& widths,
             const std::vector<std::string>& texts) {
  std::string line;
  std::size_t indent = 0;
  for (std::size_t i = 0; i + 1 < texts.size(); ++i) {
    line += padded(texts[i], widths[i], grid.columns[i].right) + std::string(kGap, ' ');
    indent += widths[i] + kGap;
  }
  for (const std::string& part : wrapped(texts.back(), widths.back())) {
    add_line(out, line + padded(part, widths.back(), grid.columns.back().right));
    line.assign(indent, ' ');
  }
}

std::string lines_of(const Grid& grid, const std::vector<std::size_t>& widths) {
  std::string out;
  add_titles(out, grid, widths);
  for (const auto& row : grid.rows) add_row(out, grid, widths, row);
  return out;
}

std::string paragraphs_of(const Grid& grid, std::size_t width) {
  std::string out;
  for (const auto& row : grid.rows) {
    if (!out.empty()) out += '\n';
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i].empty() || row[i] == "-") continue;
      std::string indent;
      for (const std::string& part :
           wrapped(fmt::format("{}: {}", grid.columns[i].title, row[i]), std::max<std::size_t>(width, 12) - 2)) {
        add_line(out, indent + part);
        indent = "  ";
      }
    }
  }
  return out;
}

Grid harmless(Grid grid) {
  for (auto& column : grid.columns) column.title = printable(column.title);
  for (auto& row : grid.rows)
    for (auto& text : row) text = printable(text);
  return grid;
}

bool letter_or_digit(const std::string& text, std::size_t i) {
  return i < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || static_cast<unsigned char>(text[i]) >= 0x80);
}

}  // namespace

std::string text_of(const Grid& given, std::size_t width) {
  const Grid grid = harmless(given);
  if (grid.columns.empty()) return {};
  const auto texts = text_widths(grid);
  for (auto widths : {wide_widths(grid, texts), narrow_widths(grid, texts)}) {
    const std::size_t before = width_before_last(widths);
    if (width == 0 || before + widths.back() <= width) return lines_of(grid, widths);
    if (grid.columns.back().right || before + kLeastProse > width) continue;
    widths.back() = width - before;
    return lines_of(grid, widths);
  }
  return paragraphs_of(grid, width);
}

std::string markdown_text(const std::string& given) {
  const std::string text = printable(given);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool inside_word = i > 0 && letter_or_digit(text, i - 1) && letter_or_digit(text, i + 1);
    if (std::string_view("\\`*[]<>|&~$#!").find(text[i]) != std::string_view::npos || (text[i] == '_' && !inside_word))
      out += '\\';
    out += text[i];
  }
  return out;
}

std::string markdown_of(const Grid& grid) {
  std::string titles = "|", rule = "|";
  for (const auto& column : grid.columns) {
    titles += fmt::format(" {} |", markdown_text(column.title));
    rule += column.right ? " ---: |" : " --- |";
  }
  std::string out = titles + '\n' + rule + '\n';
  for (const auto& row : grid.rows) {
    out += '|';
    for (const auto& text : row) out += fmt::format(" {} |", markdown_text(text));
    out += '\n';
  }
  return out;
}

}  // namespace megaup::analysis
