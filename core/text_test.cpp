#include <megaup/core/text.hpp>

#include <clocale>
#include <limits>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace megaup::core;

namespace {

const std::vector<std::string_view> kNames{"warmup", "observations", "pairs",        "cadence",
                                           "duty",   "cache",        "cell_timeout", "cp"};

}  // namespace

TEST_CASE("the nearest name is found for the usual slips") {
  CHECK(nearest_name("observatons", kNames) == "observations");
  CHECK(nearest_name("obsrevations", kNames) == "observations");  // neighbours swapped
  CHECK(nearest_name("warm_up", kNames) == "warmup");
  CHECK(nearest_name("celltimeout", kNames) == "cell_timeout");
  CHECK(nearest_name("cadance", kNames) == "cadence");
  CHECK(nearest_name("pair", kNames) == "pairs");
}

TEST_CASE("no name is suggested for a word that is near none") {
  CHECK(nearest_name("temperature", kNames).empty());
  CHECK(nearest_name("xy", kNames).empty());  // two replacements would turn it into cp, and into anything else
  CHECK(nearest_name("", kNames).empty());
  CHECK(nearest_name("duty", {}).empty());
}

TEST_CASE("an exact name is its own nearest, and the first of equals wins") {
  CHECK(nearest_name("cache", kNames) == "cache");
  const std::vector<std::string_view> twins{"abcd1", "abcd2"};
  CHECK(nearest_name("abcd", twins) == "abcd1");
}

TEST_CASE("numbers print shortest and with a point") {
  CHECK(number(0.1) == "0.1");
  CHECK(number(1234.5) == "1234.5");
  CHECK(number(2) == "2");
  CHECK(number(-0.0) == "-0");
  CHECK(number(1e300) == "1e+300");
  CHECK(number(std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(number(-std::numeric_limits<double>::infinity()) == "-inf");
  CHECK(number(-2.2250738585072014e-308) == "-2.2250738585072014e-308");
}

TEST_CASE("a locale with a decimal comma changes nothing") {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
  };
  const auto before = std::locale::global(std::locale(std::locale::classic(), new Comma));
  const std::string c_before = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // where it is installed
  const auto text = number(1234.5);
  std::ostringstream stream;
  stream << 0.5;
  std::setlocale(LC_ALL, c_before.c_str());
  std::locale::global(before);
  CHECK(stream.str() == "0,5");  // the comma was really there
  CHECK(text == "1234.5");
}

TEST_CASE("moments are ISO 8601 in UTC") {
  CHECK(utc(0) == "1970-01-01T00:00:00Z");
  CHECK(utc(951782399) == "2000-02-28T23:59:59Z");
  CHECK(utc(951782400) == "2000-02-29T00:00:00Z");
  CHECK(utc(1795953600) == "2026-11-29T12:00:00Z");
  CHECK(utc(-1) == "1969-12-31T23:59:59Z");
  CHECK_THAT(utc_now(), Catch::Matchers::Matches("2[0-9]{3}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z"));
}

TEST_CASE("UTF-8 is told from other bytes") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("Modèle-ü-模型-😀"));
  for (const std::string_view broken : {"\xff", "a\xc3", "\xc3(", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                                        "\xf4\x90\x80\x80", "\xf0\x9f\x98", "\x80"})
    CHECK_FALSE(is_utf8(broken));
}

TEST_CASE("broken bytes become U+FFFD one by one, and the rest stays") {
  CHECK(as_utf8("ü ok") == "ü ok");
  CHECK(as_utf8("a\xff"
                "b") ==
        "a\xef\xbf\xbd"
        "b");
  CHECK(as_utf8("\xc3") == "\xef\xbf\xbd");
  CHECK(is_utf8(as_utf8("\xed\xa0\x80\xf0\x9f")));
}

TEST_CASE("text in a message stays on one line") {
  CHECK(one_line("a\nb\tc\r\x1b[0m\x7f") == "a\\nb\\tc\\x0d\\x1b[0m\\x7f");
  CHECK(one_line("<ü>\xff") == "<ü>\xef\xbf\xbd");
}
