#pragma once

#include <cstdint>

#include <megaup/core/dtype.hpp>
#include <megaup/core/layout.hpp>
#include <megaup/ops/gate.hpp>

namespace megaup::ops {

/// Tensors that are filled with random numbers. The weight is the same on all ranks.
enum class InputTensor : std::uint8_t { hidden, weight, query, key, value };

/// Counter-based random BF16 numbers: element `index` of a stream depends on nothing but the stream and the index, so
/// that any rank can compute any rank's inputs. Sum of four uniform numbers: bell-shaped, mean 0, standard deviation 1,
/// within +-3.47; below one zero in ten thousand.
class RandomInput {
 public:
  RandomInput(const InputKey& key, InputTensor tensor, std::int64_t rank);
  core::Bf16 operator()(std::int64_t index) const {
    const std::uint64_t bits = mixed(stream_ + static_cast<std::uint64_t>(index) * kStep);
    const auto part = [&](int shift) { return static_cast<std::int32_t>((bits >> shift) & 0xffff); };
    const std::int32_t sum = part(0) + part(16) + part(32) + part(48) - 2 * 0xffff;
    return core::Bf16::from_float(static_cast<float>(sum) * kScale);
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;  // splitmix64
  static constexpr float kScale =
      1.0f / (65536.0f * 0.57735026919f);  // standard deviation of four uniform numbers: sqrt(4/12)

  static constexpr std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t stream_;
};

inline RandomInput::RandomInput(const InputKey& key, InputTensor tensor, std::int64_t rank) {
  const std::int64_t owner = tensor == InputTensor::weight ? 0 : rank;
  stream_ = mixed(key.seed + kStep);
  stream_ = mixed(stream_ ^ mixed(key.launch + 2 * kStep));
  stream_ =
      mixed(stream_ ^ mixed(static_cast<std::uint64_t>(owner) * 8 + static_cast<std::uint64_t>(tensor) + 3 * kStep));
}

inline InputTensor input_tensor(core::Head kind) {
  return static_cast<InputTensor>(static_cast<int>(InputTensor::query) + static_cast<int>(kind));
}

}  // namespace megaup::ops
