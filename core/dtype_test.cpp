#include <megaup/core/dtype.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

#include <catch2/catch_test_macros.hpp>

using megaup::core::Bf16;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float rounded(float value) { return Bf16::from_float(value).to_float(); }
bool is_nan(Bf16 value) { return (value.bits & 0x7f80u) == 0x7f80u && (value.bits & 0x7fu) != 0; }

/// The nearest of the two neighbours, by exact arithmetic in double; on a tie the one with an even last bit. For finite results only.
std::uint16_t nearest(float value) {
  const auto below = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(std::abs(value)) >> 16);
  const auto above = static_cast<std::uint16_t>(below + 1);
  const double x = std::abs(static_cast<double>(value));
  const double down = x - static_cast<double>(Bf16{below}.to_float());
  const double up = static_cast<double>(Bf16{above}.to_float()) - x;
  const auto magnitude = down < up || (down == up && below % 2 == 0) ? below : above;
  return static_cast<std::uint16_t>(magnitude | (std::signbit(value) ? 0x8000u : 0u));
}

}  // namespace

TEST_CASE("bf16 rounds to nearest, ties to even, and does not cut") {
  CHECK(rounded(1.00390625f) == 1.0f);       // a tie, down to even
  CHECK(rounded(1.01171875f) == 1.015625f);  // a tie, up to even; cutting gives 1.0078125
  CHECK(rounded(-1.01171875f) == -1.015625f);
  CHECK(rounded(3.4e38f) == kInfinity);
  CHECK(rounded(-3.4e38f) == -kInfinity);
  CHECK(rounded(3.38e38f) == Bf16{0x7f7e}.to_float());
}

TEST_CASE("the largest finite bf16 and the first float that becomes infinite") {
  const float largest = Bf16{0x7f7f}.to_float();
  CHECK(rounded(largest) == largest);
  const float tie = std::bit_cast<float>(0x7f7f8000u);  // halfway to what would be the next number
  CHECK(rounded(tie) == kInfinity);
  CHECK(rounded(std::nextafter(tie, 0.0f)) == largest);
}

TEST_CASE("infinities, zeros and whole numbers up to 256 stay as they are") {
  CHECK(rounded(kInfinity) == kInfinity);
  CHECK(rounded(-kInfinity) == -kInfinity);
  CHECK(Bf16::from_float(0.0f).bits == 0);
  CHECK(Bf16::from_float(-0.0f).bits == 0x8000);
  for (int i = -256; i <= 256; ++i) CHECK(rounded(static_cast<float>(i)) == static_cast<float>(i));
  CHECK(rounded(257.0f) == 256.0f);
}

TEST_CASE("NaN stays NaN, whatever its payload") {
  for (const std::uint32_t bits : {0x7fc00000u, 0x7f800001u, 0x7fffffffu, 0xff800001u, 0xffffffffu, 0x7f80ffffu})
    CHECK(is_nan(Bf16::from_float(std::bit_cast<float>(bits))));
}

TEST_CASE("denormals are kept, not flushed") {
  const float smallest = Bf16{0x0001}.to_float();
  CHECK(smallest > 0.0f);
  CHECK(rounded(smallest) == smallest);
  CHECK(rounded(smallest / 2) == 0.0f);  // a tie, to even
  CHECK(rounded(std::nextafter(smallest / 2, 1.0f)) == smallest);
  CHECK(rounded(std::numeric_limits<float>::denorm_min()) == 0.0f);
}

TEST_CASE("all 65536 patterns survive the way to float and back, but for NaN that becomes quiet") {
  std::uint32_t changed = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const Bf16 value{static_cast<std::uint16_t>(bits)};
    const auto back = Bf16::from_float(value.to_float());
    if (is_nan(value) ? !is_nan(back) || back.bits != (bits | 0x40u) : back != value) ++changed;
  }
  CHECK(changed == 0);
}

TEST_CASE("rounding is the nearest neighbour for floats of every exponent") {
  std::uint32_t wrong = 0;
  std::uint32_t state = 1;
  for (std::uint32_t exponent = 0; exponent < 254; ++exponent)
    for (int i = 0; i < 200; ++i) {
      state = state * 1664525u + 1013904223u;
      std::uint32_t fraction = state >> 9;
      if (i % 4 == 0) fraction = (fraction & 0x7f0000u) | 0x8000u;  // ties
      const float value = std::bit_cast<float>((state & 0x80000000u) | (exponent << 23) | fraction);
      if (Bf16::from_float(value).bits != nearest(value)) ++wrong;
    }
  CHECK(wrong == 0);
}

TEST_CASE("rounding is monotonic") {
  std::uint32_t wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x7f800000u; bits += 4093) {
    const float low = std::bit_cast<float>(bits),
                high = std::bit_cast<float>(bits + 4093 < 0x7f800000u ? bits + 4093 : 0x7f800000u);
    if (rounded(low) > rounded(high)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("equality is of bits") {
  CHECK(Bf16{0x7fc0} == Bf16{0x7fc0});
  CHECK_FALSE(Bf16{0x0000} == Bf16{0x8000});
  static_assert(Bf16::from_float(1.0f).bits == 0x3f80);
}
