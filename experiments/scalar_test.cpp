#include <clocale>
#include <limits>
#include <locale>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <megaup/experiments/scalar.hpp>

using namespace megaup::experiments;

namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

bool is_integer(std::string_view text, std::int64_t value) {
  const auto parsed = parse_integer(text, 0, kMax);
  return parsed.index() == 0 && std::get<0>(parsed) == value;
}
std::string integer_fault(std::string_view text, std::int64_t least = 0, std::int64_t most = kMax) {
  const auto parsed = parse_integer(text, least, most);
  return parsed.index() == 1 ? std::get<1>(parsed) : "";
}
double seconds(std::string_view text) {
  const auto parsed = parse_duration(text);
  return parsed.index() == 0 ? std::get<0>(parsed) : -1;
}
std::string duration_fault(std::string_view text) {
  const auto parsed = parse_duration(text);
  return parsed.index() == 1 ? std::get<1>(parsed) : "";
}

}  // namespace

TEST_CASE("integers are digits without leading zeros", "[scalar]") {
  CHECK(is_integer("0", 0));
  CHECK(is_integer("10", 10));
  CHECK(is_integer("9223372036854775807", kMax));
  for (const auto* text : {"",     "-",   "+5", "1e4", "1E4", "4.0", "4.",   "1_000", "1,000", "1:30",    "0o17",
                           "0x10", "0b1", " 1", "1 ",  "1\n", "two", ".nan", ".inf",  "true",  "\xd9\xa1"}) {
    INFO(text);
    CHECK(integer_fault(text).find("digits only") != std::string::npos);
  }
  for (const auto* text : {"0010", "09", "00", "-010"}) {
    INFO(text);
    CHECK(integer_fault(text).find("leading zeros") != std::string::npos);
  }
}

TEST_CASE("integers out of range name the range", "[scalar]") {
  CHECK(integer_fault("0", 1, 8) == "a whole number from 1 to 8");
  CHECK(integer_fault("-3", 1, 8) == "a whole number from 1 to 8");
  CHECK(integer_fault("9", 1, 8) == "a whole number from 1 to 8");
  CHECK(integer_fault("9223372036854775808").find("from 0 to 9223372036854775807") != std::string::npos);
  CHECK(integer_fault("99999999999999999999999999").find("from 0") != std::string::npos);
}

TEST_CASE("durations have a number, one space and a unit", "[scalar]") {
  CHECK(seconds("120 s") == 120);
  CHECK(seconds("0.5 s") == 0.5);
  CHECK(seconds("1e3 ms") == 1);
  CHECK(seconds("2 min") == 120);
  CHECK(seconds("1 h") == 3600);
  CHECK(seconds("0.10 ms") == Catch::Approx(1e-4).epsilon(1e-15));
  CHECK(seconds("5 us") == Catch::Approx(5e-6).epsilon(1e-15));
  CHECK(seconds("7 ns") == Catch::Approx(7e-9).epsilon(1e-15));
}

TEST_CASE("a duration without a unit is refused with a proposal", "[scalar]") {
  CHECK(duration_fault("120").find("write 120 s for seconds") != std::string::npos);
  CHECK(duration_fault("120s").find("write 120 s") != std::string::npos);
  CHECK(duration_fault("120  s").find("write 120 s") != std::string::npos);
  CHECK(duration_fault("120 sec").find("ns, us, ms, s, min, h") != std::string::npos);
  CHECK(duration_fault("120 S").find("units") != std::string::npos);
  for (const auto* text :
       {"", "s", "-1 s", ".5 s", "1. s", "01 s", "1e s", "1_0 s", "1,5 s", ".nan s", "nan s", "inf s", "0x1 s"}) {
    INFO(text);
    CHECK(seconds(text) < 0);
  }
  for (const auto* text : {"0 s", "0.0 h", "721 h", "1e999 s", "1e-999 s"}) {
    INFO(text);
    CHECK(duration_fault(text) == "more than 0 s and at most 720 h");
  }
}

TEST_CASE("booleans are true and false only", "[scalar]") {
  CHECK(std::get<0>(parse_boolean("true")));
  CHECK_FALSE(std::get<0>(parse_boolean("false")));
  for (const auto* text : {"yes", "no", "y", "n", "on", "off", "True", "FALSE", "1", "0", ""}) {
    INFO(text);
    CHECK(parse_boolean(text).index() == 1);
  }
}

TEST_CASE("names that would become paths are refused", "[scalar]") {
  for (const auto* text : {"NO", "\xc3\xbc", "a b", "reference-56", "null", "...", "1e4"}) {
    INFO(text);
    CHECK_FALSE(name_fault(text));
  }
  CHECK_FALSE(name_fault(std::string(200, 'a')));
  std::string umlauts;
  for (int i = 0; i < 200; ++i) umlauts += "\xc3\xbc";
  CHECK_FALSE(name_fault(umlauts));
  for (const auto& text : {std::string("fused/v1"), std::string("."), std::string(".."), std::string(),
                           std::string("a\0b", 3), std::string(300, 'x'), std::string(" a"), std::string("a "),
                           std::string("a\nb"), std::string("\x7f"), std::string("\xc2\x85"), std::string("\xff")}) {
    INFO(text);
    CHECK(name_fault(text));
  }
}

TEST_CASE("numbers do not depend on the locale", "[scalar]") {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
  for (const auto* name : {"de_DE.UTF-8", "fr_FR.UTF-8"})
    (void)std::setlocale(LC_ALL, name);  // where they are installed
  CHECK(seconds("0.5 s") == 0.5);
  CHECK(seconds("0,5 s") < 0);
  CHECK(integer_fault("8", 1000, 2000) == "a whole number from 1000 to 2000");
  std::setlocale(LC_ALL, "C");
  std::locale::global(before);
}
