#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include <megaup/analysis/grids.hpp>
#include <megaup/analysis/print.hpp>
#include <megaup/analysis/text.hpp>

namespace megaup::analysis {
namespace {

constexpr std::size_t kMostSources = 10;
constexpr std::size_t kMostNotes = 30;

std::vector<std::string> sources(const Analysis& analysis) {
  std::vector<std::string> lines;
  for (const Input& input : analysis.files) {
    if (lines.size() == kMostSources) {
      lines.push_back(fmt::format("and {} more files", analysis.files.size() - kMostSources));
      break;
    }
    std::string line = fmt::format("{}: {}, {}", input.path, input.source, input.fabric);
    for (const std::string* text : {&input.host, &input.device, &input.communicator})
      if (!text->empty()) line += ", " + *text;
    lines.push_back(line +
                    fmt::format("; {}, megaup {} ({})", input.created, input.megaup_version, input.git.substr(0, 12)));
  }
  return lines;
}

std::string counts(const Analysis& analysis) {
  std::size_t budgets = 0, costs = 0;
  for (const Row& row : analysis.rows) {
    budgets += budget_ms(row) ? 1 : 0;
    costs += row.delta && !budget_ms(row) ? 1 : 0;
  }
  return fmt::format("{} rows: {} with a budget, {} without (Delta <= 0), {} without a Delta", analysis.rows.size(),
                     budgets, costs, analysis.rows.size() - budgets - costs);
}

std::vector<std::string> shown_notes(const Analysis& analysis) {
  std::vector<std::string> lines = notes(analysis);
  if (lines.size() <= kMostNotes) return lines;
  const std::size_t more = lines.size() - kMostNotes;
  lines.resize(kMostNotes);
  lines.push_back(fmt::format("and {} more notes; --format json prints them all", more));
  return lines;
}

void add_wrapped(std::string& out, std::string_view first, const std::string& text, std::size_t width) {
  const std::string safe = printable(text);
  const std::size_t room =
      width == 0 ? safe.size() + 1 : std::max<std::size_t>(width, first.size() + 12) - first.size();
  std::string lead(first);
  for (const std::string& line : wrapped(safe, room)) {
    out += lead + line + '\n';
    lead.assign(first.size(), ' ');
  }
}

}  // namespace

std::string print_table(const Analysis& analysis, const Layout& layout) {
  std::string out;
  for (const std::string& line : sources(analysis)) add_wrapped(out, "", line, layout.width);
  out += '\n' + text_of(headline(analysis), layout.width);
  if (const Grid grid = breakdown(analysis); layout.operations && !grid.rows.empty())
    out += '\n' + text_of(grid, layout.width);
  out += '\n';
  add_wrapped(out, "", counts(analysis), layout.width);
  out += '\n';
  for (const std::string& note : shown_notes(analysis)) add_wrapped(out, "* ", note, layout.width);
  return out;
}

std::string print_markdown(const Analysis& analysis, const Layout& layout) {
  std::string out;
  for (const std::string& line : sources(analysis)) out += markdown_text(line) + "\n\n";
  out += markdown_of(headline(analysis));
  if (const Grid grid = breakdown(analysis); layout.operations && !grid.rows.empty()) out += '\n' + markdown_of(grid);
  out += '\n' + markdown_text(counts(analysis)) + "\n\n";
  for (const std::string& note : shown_notes(analysis)) out += "- " + markdown_text(note) + '\n';
  return out;
}

}  // namespace megaup::analysis
