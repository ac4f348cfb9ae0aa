#include <megaup/cli/show.hpp>

#include <fmt/format.h>

#include <megaup/analysis/analysis.hpp>
#include <megaup/analysis/cell_rows.hpp>
#include <megaup/analysis/number.hpp>
#include <megaup/analysis/print.hpp>
#include <megaup/cli/terminal.hpp>

namespace megaup::cli {

void show_table(const std::vector<std::filesystem::path>& files) {
  analysis::Question question;
  question.files = files;
  const auto answer = analysis::analyze(question);
  fmt::print("{}", analysis::print_table(answer, {output_width(), answer.rows.size() <= analysis::kFewRows}));
}

std::string delta_words(const core::CellRecord& cell) {
  const auto rows = analysis::cell_rows(core::Record{}, cell);
  if (rows.empty()) return "no Delta";
  const auto& row = rows.front();
  if (!row.delta) return fmt::format("no Delta: {}", row.reason);
  return fmt::format("Delta {} ms", analysis::difference_text(row.delta->delta_ms, analysis::decimals_of(row.delta->baseline_ms)));
}

}  // namespace megaup::cli
