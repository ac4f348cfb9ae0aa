#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <megaup/core/record_bytes.hpp>
#include <megaup/core/record_tree.hpp>

/// Types, shapes and elements of the classic file format (HDF5 File Format Specification 3.0, IV.A.2: messages 1, 3, 8 and 12).
namespace megaup::core::detail {

struct ClassicType {
  Value::Kind kind = Value::Kind::other;
  std::uint64_t size = 0;  ///< bytes of an element in the file
  bool big_endian = false;
  bool is_signed = true;
  bool space_padded = false;
  bool variable = false;  ///< strings in the global heap
};

struct ClassicSpace {
  bool null = false;
  std::vector<std::int64_t> shape;
  std::uint64_t count = 1;
};

/// Where a dataset's elements are: inside the message, or at an address that may be undefined.
struct ClassicLayout {
  std::string compact;
  bool is_compact = false;
  std::uint64_t address = 0, bytes = 0;
};

constexpr std::uint64_t kUndefinedAddress = ~std::uint64_t{0};

ClassicType classic_type(std::string_view message);
ClassicSpace classic_space(std::string_view message);
ClassicLayout classic_layout(std::string_view message);

/// The attribute of a message: its name, and its elements unless the kind is other.
std::pair<std::string, Value> classic_attribute(FileBytes& file, std::string_view message);
Value classic_dataset(FileBytes& file, const ClassicType& type, const ClassicSpace& space, const ClassicLayout& layout);

}  // namespace megaup::core::detail
