#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace megaup::experiments {

/// A place in a text: both counted from 0, the column in bytes.
struct TextPosition {
  int line = 0;
  int column = 0;
  friend auto operator<=>(const TextPosition&, const TextPosition&) = default;
};

/// Collects everything that is wrong with one text file, so that its author sees all of it at once. `text` must outlive the object.
class Diagnostics {
 public:
  Diagnostics(std::string file, std::string_view text);

  void add(TextPosition where, std::string message);
  bool empty() const { return entries_.empty(); }

  /// "N errors in FILE", then "file:line:column: error: message", the source line and a caret, for each error in the order of the
  /// file; columns count characters from 1. The first 50 are shown. Empty without errors.
  std::string report() const;
  /// Throws core::Error{usage, report()} if there is any error.
  void throw_if_any() const;

 private:
  struct Entry {
    TextPosition where;
    std::string message;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  std::string excerpt(TextPosition where) const;

  std::string file_;
  std::vector<std::string_view> lines_;
  std::vector<Entry> entries_;
};

/// A value as messages show it: in quotes, shortened after 60 characters, with control characters and broken UTF-8 made visible.
std::string in_quotes(std::string_view value);

}  // namespace megaup::experiments
