#pragma once

#include <cstddef>
#include <string>

#include <megaup/analysis/analysis.hpp>

/// An analysis as text. Each ends with a newline, and none depends on the locale.
namespace megaup::analysis {

/// With more rows than this the table of operations is left out unless it is asked for.
inline constexpr std::size_t kFewRows = 8;

struct Layout {
  std::size_t width = 0;   ///< columns of the terminal; 0 = no limit
  bool operations = true;  ///< also the table of operations
};

/// For a terminal: where the numbers come from, the tables, the counts, and the notes (of the rows' warnings the first
/// twenty).
std::string print_table(const Analysis& analysis, const Layout& layout);

/// The same as GitHub Markdown.
std::string print_markdown(const Analysis& analysis, const Layout& layout);

/// One record a row, RFC 4180 quoting, LF line ends, UTF-8, all digits, empty = no value. Notes are not in it: see
/// notes(). Control characters are escaped, and a text that a spreadsheet would run (it starts with = + - or @) gets an
/// apostrophe in front.
std::string print_csv(const Analysis& analysis);

/// {"format": "megaup-analysis", "format_version": "1.0.0", "rows": [...], "notes": [...]}, one row a line, all digits,
/// null = no value. With h also h_ms, saving_ms and benefit, with a base for percentages also step_percent and
/// step_percent_base.
std::string print_json(const Analysis& analysis);

}  // namespace megaup::analysis
