#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace megaup::analysis {

/// One line of CSV (RFC 4180 quoting, LF, no locale), appended to `out`. Control characters are escaped, and a text that a spreadsheet would
/// run (it starts with = + - or @) gets an apostrophe in front. Numbers have all digits; no value is an empty field.
class CsvLine {
 public:
  explicit CsvLine(std::string& out) : out_(out) {}
  void text(std::string_view given);
  void count(std::int64_t value);
  void number(const std::optional<double>& value);
  void end() { out_ += '\n'; }

 private:
  void separate();

  std::string& out_;
  bool first_ = true;
};

}  // namespace megaup::analysis
