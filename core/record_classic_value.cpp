#include <megaup/core/record_classic_value.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace megaup::core::detail {
namespace {

// Classes of types.
constexpr std::uint64_t kInteger = 0, kFloat = 1, kString = 3, kVariable = 9;

/// Position of exponent and fraction: other floating-point types are not records'.
bool is_ieee(Cursor& properties, std::uint64_t size) {
  std::array<std::uint64_t, 7> f{};
  f[0] = properties.number(2);                                      // first bit
  f[1] = properties.number(2);                                      // bits
  for (std::size_t i = 2; i < 6; ++i) f[i] = properties.number(1);  // exponent at, of; fraction at, of
  f[6] = properties.number(4);                                      // exponent bias
  constexpr std::array<std::uint64_t, 7> kSingle{0, 32, 23, 8, 0, 23, 127};
  constexpr std::array<std::uint64_t, 7> kDouble{0, 64, 52, 11, 0, 52, 1023};
  return (size == 4 && f == kSingle) || (size == 8 && f == kDouble);
}

std::uint64_t element(std::string_view bytes, bool big_endian) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value = (value << 8) | static_cast<unsigned char>(bytes[big_endian ? i : bytes.size() - 1 - i]);
  return value;
}

std::int64_t integer(std::string_view bytes, const ClassicType& type) {
  std::uint64_t value = element(bytes, type.big_endian);
  const auto unused = 64 - 8 * bytes.size();
  if (type.is_signed) return static_cast<std::int64_t>(value << unused) >> unused;
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw Damaged(fmt::format("the number {} is beyond 64-bit signed range", value));
  return static_cast<std::int64_t>(value);
}

double real(std::string_view bytes, const ClassicType& type) {
  const auto value = element(bytes, type.big_endian);
  if (bytes.size() == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(value));
  return std::bit_cast<double>(value);
}

/// Numbers that need no conversion are copied as a whole.
bool is_native_double(const ClassicType& type) {
  return type.kind == Value::Kind::real && type.size == sizeof(double) &&
         type.big_endian == (std::endian::native == std::endian::big);
}

std::string unpadded(std::string_view bytes, bool space_padded) {
  bytes = bytes.substr(0, bytes.find('\0'));
  if (space_padded) bytes = bytes.substr(0, bytes.find_last_not_of(' ') + 1);
  return std::string(bytes);
}

/// Object `index` of the collection at `address` of the global heap.
std::string heap_object(FileBytes& file, std::uint64_t address, std::uint64_t index, std::uint64_t length) {
  constexpr std::uint64_t kHead = 16;
  const auto head = file.bytes(address, kHead);
  Cursor in(head);
  in.expect("GCOL");
  in.skip(4);
  const auto size = in.number(8);
  if (size < kHead) throw Damaged("a global heap collection is smaller than its head");
  const auto rest = file.bytes(address + kHead, size - kHead);
  Cursor objects(rest);
  while (objects.left() >= kHead) {
    const auto id = objects.number(2);
    objects.skip(6);
    const auto bytes = objects.number(8);
    if (id == 0) break;  // free space to the end
    const auto data = objects.take(bytes);
    if (id == index)
      return std::string(data.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(length, data.size()))));
    objects.skip(std::min<std::uint64_t>((8 - bytes % 8) % 8, objects.left()));
  }
  throw Damaged(fmt::format("the global heap at {} has no object {}", address, index));
}

void decode_texts(FileBytes& file, Value& value, const ClassicType& type, std::string_view data, std::uint64_t count) {
  std::uint64_t total = 0;  // many elements may point to one long text
  Cursor in(data);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!type.variable) {
      value.texts.push_back(unpadded(in.take(type.size), type.space_padded));
      continue;
    }
    const auto length = in.number(4), address = in.number(8), index = in.number(4);
    value.texts.push_back(length == 0 ? "" : unpadded(heap_object(file, address, index, length), type.space_padded));
    total += value.texts.back().size();
    if (total > file.size()) throw Damaged("its texts are longer than the file");
  }
}

void decode(FileBytes& file, Value& value, const ClassicType& type, std::string_view data, std::uint64_t count) {
  if (type.kind == Value::Kind::text) return decode_texts(file, value, type, data, count);
  if (is_native_double(type)) {
    value.reals.resize(static_cast<std::size_t>(count));
    std::memcpy(value.reals.data(), data.data(), data.size());
    return;
  }
  Cursor in(data);
  if (type.kind == Value::Kind::integer)
    for (std::uint64_t i = 0; i < count; ++i) value.integers.push_back(integer(in.take(type.size), type));
  if (type.kind == Value::Kind::real)
    for (std::uint64_t i = 0; i < count; ++i) value.reals.push_back(real(in.take(type.size), type));
}

/// Bytes of all elements; never more than the file has, so that a damaged shape cannot ask for memory.
std::uint64_t data_bytes(const FileBytes& file, const ClassicType& type, const ClassicSpace& space) {
  if (type.size == 0 || space.count > file.size() / type.size)
    throw Damaged(
        fmt::format("{} elements of {} bytes do not fit a file of {} bytes", space.count, type.size, file.size()));
  return space.count * type.size;
}

Value empty_value(const ClassicType& type, const ClassicSpace& space) {
  Value value;
  value.kind = type.kind;
  value.null = space.null;
  value.shape = space.shape;
  return value;
}

}  // namespace

ClassicType classic_type(std::string_view message) {
  Cursor in(message);
  const auto class_and_version = in.number(1);
  const auto bits = in.number(3);
  ClassicType type;
  type.size = in.number(4);
  type.big_endian = bits & 1;
  switch (class_and_version & 15) {
    case kInteger: {
      type.is_signed = bits & 8;
      const auto first_bit = in.number(2), n_bits = in.number(2);
      if (first_bit == 0 && n_bits == 8 * type.size && type.size <= 8) type.kind = Value::Kind::integer;
      break;
    }
    case kFloat:
      if ((bits & 0x40) == 0 && is_ieee(in, type.size)) type.kind = Value::Kind::real;
      break;
    case kString:
      type.kind = Value::Kind::text;
      type.space_padded = (bits & 15) == 2;
      break;
    case kVariable:
      if ((bits & 15) == 1 && type.size == 16) {
        type.kind = Value::Kind::text;
        type.variable = true;
        type.space_padded = ((bits >> 4) & 15) == 2;
      }
      break;
    default: break;
  }
  return type;
}

ClassicSpace classic_space(std::string_view message) {
  Cursor in(message);
  const auto version = in.number(1);
  const auto rank = in.number(1);
  in.skip(1);
  const auto kind = in.number(1);  // version 1 has no null dataspace
  if (version == 1) in.skip(4);
  if (version != 1 && version != 2) throw Damaged(fmt::format("dataspace of unknown version {}", version));
  if (rank > 32) throw Damaged(fmt::format("a dataspace of {} axes", rank));
  ClassicSpace space;
  space.null = version == 2 && kind == 2;
  if (space.null) space.count = 0;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  for (std::uint64_t i = 0; i < rank; ++i) {
    const auto length = in.number(8);
    if (length > kMost || (length > 0 && space.count > kMost / length))
      throw Damaged(fmt::format("an axis of {} elements", length));
    space.count *= length;
    space.shape.push_back(static_cast<std::int64_t>(length));
  }
  return space;
}

ClassicLayout classic_layout(std::string_view message) {
  Cursor in(message);
  const auto version = in.number(1), storage = in.number(1);
  if (version != 3 || storage > 1) throw NotClassic{};  // 1 and 2: before HDF5 1.6.3; 4: 1.10 and later; chunks
  ClassicLayout layout;
  layout.is_compact = storage == 0;
  if (layout.is_compact) {
    layout.compact = in.take(in.number(2));
  } else {
    layout.address = in.number(8);
    layout.bytes = in.number(8);
  }
  return layout;
}

std::pair<std::string, Value> classic_attribute(FileBytes& file, std::string_view message) {
  Cursor in(message);
  const auto version = in.number(1), flags = in.number(1);
  if (version < 1 || version > 3) throw Damaged(fmt::format("attribute of unknown version {}", version));
  if (version > 1 && flags != 0) throw NotClassic{};  // a type or space that lives elsewhere
  const auto name_bytes = in.number(2), type_bytes = in.number(2), space_bytes = in.number(2);
  if (version == 3) in.skip(1);  // character set of the name
  const auto padded = [&](std::uint64_t n) { return version == 1 ? (n + 7) / 8 * 8 : n; };
  const auto piece = [&](std::uint64_t n) { return in.take(padded(n)).substr(0, static_cast<std::size_t>(n)); };
  const auto name = unpadded(piece(name_bytes), false);
  const auto type = classic_type(piece(type_bytes));
  const auto space = classic_space(piece(space_bytes));
  auto value = empty_value(type, space);
  if (type.kind != Value::Kind::other && space.count > 0)
    decode(file, value, type, in.take(data_bytes(file, type, space)), space.count);
  return {name, std::move(value)};
}

Value classic_dataset(FileBytes& file, const ClassicType& type, const ClassicSpace& space,
                      const ClassicLayout& layout) {
  auto value = empty_value(type, space);
  if (type.kind == Value::Kind::other || space.count == 0) return value;
  const auto bytes = data_bytes(file, type, space);
  if (layout.is_compact) {
    Cursor in(layout.compact);
    decode(file, value, type, in.take(bytes), space.count);
  } else if (layout.address == kUndefinedAddress) {
    value.unwritten = true;
  } else if (bytes > layout.bytes) {
    throw Damaged(fmt::format("its shape needs {} bytes, it has {}", bytes, layout.bytes));
  } else if (is_native_double(type)) {
    value.reals.resize(static_cast<std::size_t>(space.count));
    file.read(layout.address, std::as_writable_bytes(std::span(value.reals)));
  } else {
    const auto data = file.bytes(layout.address, bytes);
    decode(file, value, type, data, space.count);
  }
  return value;
}

}  // namespace megaup::core::detail
