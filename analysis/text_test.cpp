#include <megaup/analysis/text.hpp>

#include <random>

#include <catch2/catch_test_macros.hpp>

using namespace megaup::analysis;

TEST_CASE("what a terminal could obey is escaped, the rest is untouched") {
  CHECK(printable("llama-3.1-8b") == "llama-3.1-8b");
  CHECK(printable("Modèle-ü-模型") == "Modèle-ü-模型");
  CHECK(printable("a\x1b[31mb") == "a\\x1b[31mb");
  CHECK(printable("a\nb\tc\r") == "a\\nb\\tc\\x0d");
  CHECK(printable(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(printable("\x7f") == "\\x7f");
  CHECK(printable("\xc2\x9b") == "\\u{9b}");        // C1: another way to write ESC [
  CHECK(printable("\xe2\x80\xae") == "\\u{202e}");  // right-to-left override
  CHECK(printable("\xff\xfe") == "\\xff\\xfe");
  CHECK(printable("\xc0\x8a") == "\\xc0\\x8a");           // overlong line feed
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // surrogate
  CHECK(printable("\xe6\xa8") == "\\xe6\\xa8");           // cut in the middle
}

TEST_CASE("width is counted in columns") {
  CHECK(display_width("") == 0);
  CHECK(display_width("abc") == 3);
  CHECK(display_width("ü") == 1);
  CHECK(display_width("模型") == 4);
  CHECK(display_width("e\xcc\x81") == 1);  // e and a combining acute accent
}

TEST_CASE("wrapped lines fit and lose nothing but spaces") {
  CHECK(wrapped("", 10) == std::vector<std::string>{""});
  CHECK(wrapped("one two", 10) == std::vector<std::string>{"one two"});
  CHECK(wrapped("one two three", 8) == std::vector<std::string>{"one two", "three"});
  CHECK(wrapped("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrapped("abcdefgh", 3) == std::vector<std::string>{"abc", "def", "gh"});
  CHECK(wrapped("模型模", 3) == std::vector<std::string>{"模", "型", "模"});

  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    for (int i = 0; i < 60; ++i) text += "ab  é模"[random() % 2 == 0 ? 0 : 2];
    const std::size_t width = 1 + random() % 20;
    std::string joined;
    for (const std::string& line : wrapped(text, width)) {
      CHECK(display_width(line) <= width);
      joined += line;
    }
    std::erase(text, ' ');
    std::erase(joined, ' ');
    CHECK(joined == text);
  }
}
