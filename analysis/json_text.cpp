#include <megaup/analysis/json_text.hpp>

#include <cmath>

#include <fmt/format.h>

#include <megaup/core/text.hpp>

namespace megaup::analysis {

void JsonText::separate() {
  if (!first_) out_ += ',';
  first_ = false;
}

void JsonText::plain(std::string_view text) {
  separate();
  out_ += text;
}

void JsonText::open(char bracket) {
  separate();
  out_ += bracket;
  first_ = true;
}

void JsonText::close(char bracket) {
  out_ += bracket;
  first_ = false;
}

void JsonText::key(std::string_view name) {
  separate();
  quoted(name);
  out_ += ':';
  first_ = true;
}

void JsonText::put(std::nullptr_t) { plain("null"); }

void JsonText::put(double value) {
  if (!std::isfinite(value)) return put(nullptr);
  std::string text = core::number(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";  // still a floating-point number to its reader
  plain(text);
}

void JsonText::put(std::string_view text) {
  separate();
  if (core::is_utf8(text))
    quoted(text);
  else
    quoted(core::as_utf8(text));
}

void JsonText::quoted(std::string_view text) {
  out_ += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (out_ += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      fmt::format_to(std::back_inserter(out_), "\\u{:04x}", static_cast<unsigned>(c));
    else
      out_ += c;
  }
  out_ += '"';
}

}  // namespace megaup::analysis
