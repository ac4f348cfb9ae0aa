#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <limits>
#include <string>

#include <megaup/experiments/quantity.hpp>

using namespace megaup::experiments;

namespace {

double value(std::string_view text, Dimension dimension) { return std::get<0>(parse_quantity(text, dimension)); }
std::string refusal(std::string_view text, Dimension dimension) { return std::get<1>(parse_quantity(text, dimension)); }

}  // namespace

TEST_CASE("quantities are decimal numbers with a unit, rounded once", "[quantity]") {
  CHECK(value("521.34 us", Dimension::time) == 521.34e-6);
  CHECK(value("-1.2 us", Dimension::time) == -1.2e-6);
  CHECK(value("3e2 ns", Dimension::time) == 3e-7);
  CHECK(value("0.1 ms", Dimension::time) == 0.1e-3);
  CHECK(value("989.4 TFLOP/s", Dimension::flop_rate) == 989.4e12);
  CHECK(value("3.35 TB/s", Dimension::byte_rate) == 3.35e12);
  CHECK(value("1.5 KiB", Dimension::bytes) == 1536);
  CHECK(value("0 us", Dimension::time) == 0);
  CHECK(std::get<0>(parse_real("-0.03")) == -0.03);
}

TEST_CASE("a quantity without unit, with another or with a number that could be read in two ways is refused",
          "[quantity]") {
  CHECK(refusal("5", Dimension::time).find("a unit (ns, us, ms, s)") != std::string::npos);
  CHECK(refusal("5 GB/s", Dimension::time).find("one of the units ns, us, ms, s") != std::string::npos);
  CHECK(refusal("5us", Dimension::time).find("write 5 us") != std::string::npos);
  CHECK(refusal("5 Gb/s", Dimension::byte_rate).find("MB/s, GB/s, TB/s") != std::string::npos);
  for (const char* text :
       {"", "us", "1,5 us", ".5 us", "+5 us", "nan us", "inf us", "0x10 us", "010 us", "--1 us", "1e999 s"})
    CHECK(parse_quantity(text, Dimension::time).index() == 1);
  for (const char* text : {"", "1 ", "1.", "one", "1e400"}) CHECK(parse_real(text).index() == 1);
}

TEST_CASE("quantities are written in a readable unit", "[quantity]") {
  CHECK(quantity_text(521.34e-6, Dimension::time) == "521.34 us");
  CHECK(quantity_text(-1.2e-6, Dimension::time) == "-1.2 us");
  CHECK(quantity_text(0, Dimension::time) == "0 ns");
  CHECK(quantity_text(1.5e-3, Dimension::time) == "1.5 ms");
  CHECK(quantity_text(2e-10, Dimension::time) == "0.2 ns");
  CHECK(quantity_text(120, Dimension::time) == "120 s");
  CHECK(quantity_text(989.4e12, Dimension::flop_rate) == "989.4 TFLOP/s");
  CHECK(quantity_text(378e9, Dimension::byte_rate) == "378 GB/s");
  CHECK(quantity_text(64.0 * 1024 * 1024, Dimension::bytes) == "64 MiB");
  CHECK(quantity_text(1536, Dimension::bytes) == "1536 B");
}

TEST_CASE("what is written reads back as the same bits", "[quantity]") {
  std::uint64_t state = 7;
  const auto draw = [&] {  // a number between 0 and 1: xorshift (Marsaglia 2003)
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return static_cast<double>(state >> 11) * 0x1p-53;
  };
  for (int i = 0; i < 2000; ++i) {
    const double seconds = draw() * (i % 2 == 0 ? 1e-6 : 1e-2) * (i % 3 == 0 ? -1 : 1);
    CHECK(value(quantity_text(seconds, Dimension::time), Dimension::time) == seconds);
    const double rate = draw() * 1e13;
    CHECK(value(quantity_text(rate, Dimension::byte_rate), Dimension::byte_rate) == rate);
    CHECK(value(quantity_text(rate * 100, Dimension::flop_rate), Dimension::flop_rate) == rate * 100);
    const double bytes = static_cast<double>(state >> 30);
    CHECK(value(quantity_text(bytes, Dimension::bytes), Dimension::bytes) == bytes);
  }
  const double least = std::numeric_limits<double>::min();
  CHECK(value(quantity_text(least, Dimension::time), Dimension::time) == least);
}
