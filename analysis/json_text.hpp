#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace megaup::analysis {

/// JSON written front to back onto a text, compact. For thousands of rows: building a tree of each took a quarter of an
/// analysis. The caller closes what it opens. Numbers that are not finite become null, bytes that are not UTF-8 U+FFFD.
class JsonText {
 public:
  explicit JsonText(std::string& out) : out_(out) {}

  void open(char bracket);   ///< '{' or '['
  void close(char bracket);  ///< '}' or ']'
  void key(std::string_view name);

  void put(std::nullptr_t);
  void put(double value);
  void put(std::string_view text);
  void put(const std::string& text) { put(std::string_view(text)); }
  void put(const char* text) { put(std::string_view(text)); }
  template <std::same_as<bool> Bool>  // never from a pointer or a number
  void put(Bool value) {
    plain(value ? "true" : "false");
  }
  template <std::integral Int>
  requires(!std::same_as<Int, bool>) void put(Int value) { plain(std::to_string(value)); }
  template <class T>
  void put(const std::optional<T>& value) {
    if (value)
      put(*value);
    else
      put(nullptr);
  }
  template <class T>
  void field(std::string_view name, const T& value) {
    key(name);
    put(value);
  }

 private:
  void separate();
  void plain(std::string_view text);
  void quoted(std::string_view text);

  std::string& out_;
  bool first_ = true;  ///< nothing stands before the next entry, or its key does
};

}  // namespace megaup::analysis
