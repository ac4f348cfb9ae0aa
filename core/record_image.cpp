#include <megaup/core/record_image.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <hdf5.h>
#include <hdf5_hl.h>

namespace megaup::core::detail {
namespace {

/// An attribute is one message of an object header, and those end at 64 KiB.
constexpr std::size_t kLongestAttribute = 60000;
/// Up to here the elements lie in the object header, so that reading them takes no further access.
constexpr std::size_t kSmall = 4096;
constexpr std::size_t kGrowth = std::size_t{1} << 20;

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorKind::environment, fmt::format("HDF5 cannot make {}: {}", what, Hdf5::reason()));
}

void check(herr_t status, const std::string& what) {
  if (status < 0) fail(what);
}

Handle own(hid_t id, Handle::Close close, const std::string& what) {
  if (id < 0) fail(what);
  return {id, close};
}

/// Fixed length, UTF-8, filled up with null bytes: the one kind of text that is written.
Handle text_type(std::size_t bytes) {
  auto type = own(H5Tcopy(H5T_C_S1), H5Tclose, "a text type");
  check(H5Tset_size(type.get(), std::max<std::size_t>(bytes, 1)), "a text type");
  check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "a text type");
  check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "a text type");
  return type;
}

Handle simple_space(const Image::Shape& shape) {
  const std::vector<hsize_t> lengths(shape.begin(), shape.end());
  return own(H5Screate_simple(static_cast<int>(lengths.size()), lengths.data(), nullptr), H5Sclose, "a shape");
}

Handle scalar_space() { return own(H5Screate(H5S_SCALAR), H5Sclose, "a shape"); }

void put_attribute(hid_t object, const std::string& name, hid_t file_type, hid_t memory_type, hid_t space,
                   const void* value) {
  const auto attribute = own(H5Acreate2(object, name.c_str(), file_type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                             fmt::format("attribute '{}'", name));
  check(H5Awrite(attribute.get(), memory_type, value), fmt::format("attribute '{}'", name));
}

Handle put_dataset(hid_t group, const std::string& name, hid_t creation, hid_t file_type, hid_t memory_type,
                   hid_t space, const void* values) {
  auto dataset = own(H5Dcreate2(group, name.c_str(), file_type, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose,
                     fmt::format("dataset '{}'", name));
  check(H5Dwrite(dataset.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), fmt::format("dataset '{}'", name));
  return dataset;
}

Handle dataset_creation(H5D_layout_t layout) {
  auto list = own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "a property list");
  check(H5Pset_layout(list.get(), layout), "a property list");
  check(H5Pset_fill_time(list.get(), H5D_FILL_TIME_NEVER), "a property list");  // every element is written
  check(H5Pset_obj_track_times(list.get(), false), "a property list");          // equal records give equal bytes
  return list;
}

}  // namespace

Image::Image()
    : access_(own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "a property list")),
      creation_(dataset_creation(H5D_CONTIGUOUS)),
      small_(dataset_creation(H5D_COMPACT)) {
  check(H5Pset_fapl_core(access_.get(), kGrowth, false), "a file in memory");
  check(H5Pset_libver_bounds(access_.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V110), "a file in memory");
  check(H5Pset_fclose_degree(access_.get(), H5F_CLOSE_STRONG), "a file in memory");
  file_ = own(H5Fcreate("record in memory", H5F_ACC_TRUNC, H5P_DEFAULT, access_.get()), H5Fclose, "a file in memory");
}

Handle Image::group(Id parent, const std::string& name) const {
  return own(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
             fmt::format("group '{}'", name));
}

void Image::attribute(Id object, const std::string& name, const Attribute& value) const {
  const auto space = scalar_space();
  if (const auto* text = std::get_if<std::string>(&value)) {
    const auto type = text_type(text->size());
    put_attribute(object, name, type.get(), type.get(), space.get(), text->c_str());
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    put_attribute(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, space.get(), integer);
  } else {
    put_attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, space.get(), &std::get<double>(value));
  }
}

void Image::text(Id group, const std::string& name, const std::string& text) const {
  if (text.size() > kLongestAttribute)
    document(group, name, text);
  else
    attribute(group, name, text);
}

Handle Image::document(Id group, const std::string& name, const std::string& text) const {
  const auto type = text_type(text.size());
  const auto space = scalar_space();
  return put_dataset(group, name, creation_.get(), type.get(), type.get(), space.get(), text.c_str());
}

Handle Image::texts(Id group, const std::string& name, const std::vector<std::string>& texts) const {
  std::size_t longest = 1;
  for (const auto& text : texts) longest = std::max(longest, text.size());
  std::string elements(longest * texts.size(), '\0');
  for (std::size_t i = 0; i < texts.size(); ++i) texts[i].copy(elements.data() + i * longest, longest);
  const auto type = text_type(longest);
  const auto space = simple_space({texts.size()});
  return put_dataset(group, name, elements.size() <= kSmall ? small_.get() : creation_.get(), type.get(), type.get(),
                     space.get(), elements.data());
}

Handle Image::numbers(Id group, const std::string& name, const Shape& shape, std::span<const double> values) const {
  const auto space = simple_space(shape);
  return put_dataset(group, name, values.size_bytes() <= kSmall ? small_.get() : creation_.get(), H5T_IEEE_F64LE,
                     H5T_NATIVE_DOUBLE, space.get(), values.data());
}

Handle Image::integers(Id group, const std::string& name, std::span<const std::int32_t> values) const {
  const auto space = simple_space({values.size()});
  return put_dataset(group, name, values.size_bytes() <= kSmall ? small_.get() : creation_.get(), H5T_STD_I32LE,
                     H5T_NATIVE_INT32, space.get(), values.data());
}

Handle Image::bytes(Id group, const std::string& name, std::span<const std::uint8_t> values) const {
  const auto space = simple_space({values.size()});
  return put_dataset(group, name, values.size_bytes() <= kSmall ? small_.get() : creation_.get(), H5T_STD_U8LE,
                     H5T_NATIVE_UINT8, space.get(), values.data());
}

void Image::byte_attribute(Id object, const std::string& name, std::span<const std::uint8_t> values) const {
  const auto space = simple_space({values.size()});
  put_attribute(object, name, H5T_STD_U8LE, H5T_NATIVE_UINT8, space.get(), values.data());
}

void Image::make_scale(Id dataset, const std::string& axis) const {
  check(H5DSset_scale(dataset, axis.c_str()), fmt::format("scale '{}'", axis));
}

void Image::attach(Id dataset, unsigned axis, Id scale, const std::string& label) const {
  check(H5DSset_label(dataset, axis, label.c_str()), fmt::format("label '{}'", label));
  check(H5DSattach_scale(dataset, scale, axis), fmt::format("axis '{}'", label));
}

std::string_view Image::finish() const {
  check(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), "the file's image");
  // The buffer of the driver grows in steps; the image call with no buffer says how much of it is the file.
  const auto size = H5Fget_file_image(file_.get(), nullptr, 0);
  void* memory = nullptr;
  if (size < 0 || H5Fget_vfd_handle(file_.get(), access_.get(), &memory) < 0 || memory == nullptr)
    fail("the file's image");
  return {*static_cast<const char**>(memory), static_cast<std::size_t>(size)};
}

}  // namespace megaup::core::detail
