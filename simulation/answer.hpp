#pragma once

#include <string>
#include <utility>
#include <variant>

/// Predictions from a machine description: pure functions of figures that a user can read and change.
namespace megaup::simulation {

/// Why there is no value: one sentence with the numbers and the mend.
struct Cannot {
  std::string reason;
};

/// A value, or why there is none.
template <class T>
class Answer {
 public:
  Answer(T value) : content_(std::move(value)) {}         // NOLINT(google-explicit-constructor): `return value;`
  Answer(Cannot cannot) : content_(std::move(cannot)) {}  // NOLINT(google-explicit-constructor): `return Cannot{...};`

  explicit operator bool() const { return content_.index() == 0; }
  const T& operator*() const { return std::get<0>(content_); }
  T& operator*() { return std::get<0>(content_); }
  const T* operator->() const { return &std::get<0>(content_); }
  T* operator->() { return &std::get<0>(content_); }
  /// Only of an answer without a value.
  const std::string& reason() const { return std::get<1>(content_).reason; }

 private:
  std::variant<T, Cannot> content_;
};

/// A predicted time and the rule that gave it ("GEMM measured (calibrated from ...)", "nccl exchange on the curve of 2 ranks (...)", ...).
struct Estimate {
  double seconds = 0;
  std::string rule;
};

}  // namespace megaup::simulation
