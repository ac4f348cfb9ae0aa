#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <megaup/analysis/analysis.hpp>
#include <megaup/core/embedded_file.hpp>

/// The report page: one HTML file that needs nothing else, with the rows as JSON inside.
namespace megaup::analysis {

struct Page {
  std::string name;  ///< of its file
  std::string html;
};

/// What a browser opens and scrolls without effort.
inline constexpr std::size_t kPageBytes = 5'000'000;

/// One page named `name` ("page.html") if all rows fit into `limit` bytes, else several ("page.html", "page-2.html", ...), each with the
/// links to the others; the order of the rows stays. The rows should have details (Question::depth). Every number is printed here, by the
/// rules of number.hpp; the page only subtracts h.
std::vector<Page> report_pages(const Analysis& analysis, const std::string& name, std::size_t limit = kPageBytes);

/// page.css, page.html and page.js of this folder, by name.
std::span<const core::EmbeddedFile> report_files();

}  // namespace megaup::analysis
