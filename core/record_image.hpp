#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <megaup/core/record.hpp>
#include <megaup/core/record_handle.hpp>

namespace megaup::core::detail {

/// A new HDF5 file in memory, of the classic kind (what HDF5 1.8 and every later version reads). In memory because a full disk or a lock
/// then never meets the library, whose state after a failed write is unknown; and because many small writes become one.
/// Needs the Hdf5 guard as long as it lives. Throws Error{environment} with the library's reason.
class Image {
 public:
  using Id = std::int64_t;
  using Shape = std::vector<std::uint64_t>;

  Image();
  Id root() const { return file_.get(); }
  Handle group(Id parent, const std::string& name) const;

  void attribute(Id object, const std::string& name, const Attribute& value) const;
  /// The text as an attribute, or as a dataset of that name where it is too long for one.
  void text(Id group, const std::string& name, const std::string& text) const;

  Handle document(Id group, const std::string& name, const std::string& text) const;
  Handle texts(Id group, const std::string& name, const std::vector<std::string>& texts) const;
  Handle numbers(Id group, const std::string& name, const Shape& shape, std::span<const double> values) const;
  Handle integers(Id group, const std::string& name, std::span<const std::int32_t> values) const;
  Handle bytes(Id group, const std::string& name, std::span<const std::uint8_t> values) const;
  void byte_attribute(Id object, const std::string& name, std::span<const std::uint8_t> values) const;

  /// Makes the dataset the scale of an axis of that name.
  void make_scale(Id dataset, const std::string& axis) const;
  void attach(Id dataset, unsigned axis, Id scale, const std::string& label) const;

  /// The bytes of the file. Valid until the image ends.
  std::string_view finish() const;

 private:
  Handle access_, file_, creation_, small_;
};

}  // namespace megaup::core::detail
