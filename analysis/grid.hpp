#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace megaup::analysis {

/// A table of texts. A last column that is left-aligned is prose and may be wrapped. The text "-" stands for no value.
struct Grid {
  struct Column {
    std::string title;
    bool right = false;  ///< numbers
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

/// Plain text, one line a row, if that fits into `width` columns (0: no limit), with titles and prose over several lines
/// if need be; otherwise one short paragraph a row, without what has no value. All texts are made harmless first.
std::string text_of(const Grid& grid, std::size_t width);

/// A GitHub table. Everything that Markdown or HTML would obey is escaped.
std::string markdown_of(const Grid& grid);

/// One text as it stands in Markdown.
std::string markdown_text(const std::string& text);

}  // namespace megaup::analysis
