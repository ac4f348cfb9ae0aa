#include <megaup/analysis/csv_line.hpp>

#include <iterator>

#include <fmt/format.h>

#include <megaup/analysis/text.hpp>
#include <megaup/core/text.hpp>

namespace megaup::analysis {

void CsvLine::text(std::string_view given) {
  separate();
  std::string safe = printable(given);
  if (!safe.empty() && std::string_view("=+-@").find(safe.front()) != std::string_view::npos) safe.insert(0, 1, '\'');
  if (safe.find_first_of(",\"") == std::string::npos) {
    out_ += safe;
    return;
  }
  out_ += '"';
  for (const char character : safe) out_.append(character == '"' ? 2 : 1, character);
  out_ += '"';
}

void CsvLine::count(std::int64_t value) {
  separate();
  fmt::format_to(std::back_inserter(out_), "{}", value);
}

void CsvLine::number(const std::optional<double>& value) {
  separate();
  if (value) out_ += core::number(*value);
}

void CsvLine::separate() {
  if (!first_) out_ += ',';
  first_ = false;
}

}  // namespace megaup::analysis
