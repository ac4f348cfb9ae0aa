#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <hdf5.h>

#include <megaup/core/record_handle.hpp>
#include <megaup/core/record_tree.hpp>
#include <megaup/core/text.hpp>

/// Files of newer structure, with chunks or filters, through libhdf5.
namespace megaup::core::detail {
namespace {

[[noreturn]] void fail(const std::string& what) { throw Damaged(fmt::format("{} (HDF5: {})", what, Hdf5::reason())); }

Handle own(hid_t id, Handle::Close close, const char* what) {
  if (id < 0) fail(fmt::format("{} cannot be read", what));
  return {id, close};
}

Value::Kind kind_of(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_STRING: return Value::Kind::text;
    case H5T_INTEGER: return Value::Kind::integer;
    case H5T_FLOAT: return Value::Kind::real;
    default: return Value::Kind::other;
  }
}

/// Type, shape and number of elements of an attribute or a dataset.
struct Layout {
  Handle type, space;
  Value value;
  std::size_t count = 0;

  Layout(hid_t type_id, hid_t space_id)
      : type(own(type_id, H5Tclose, "type")), space(own(space_id, H5Sclose, "shape")) {
    value.kind = kind_of(type.get());
    value.null = H5Sget_simple_extent_type(space.get()) == H5S_NULL;
    std::vector<hsize_t> shape(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space.get()))));
    H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr);
    value.shape.assign(shape.begin(), shape.end());
    const auto n = H5Sget_simple_extent_npoints(space.get());
    if (n < 0) fail("shape cannot be read");
    count = static_cast<std::size_t>(n);
  }
};

std::string unpadded(std::string text, H5T_str_t padding) {
  text.resize(std::min(text.size(), text.find('\0')));
  if (padding == H5T_STR_SPACEPAD) text.resize(text.find_last_not_of(' ') + 1);
  return text;
}

/// Reads the elements with `read(memory type, memory)`, which is H5Aread or H5Dread.
template <class Read>
void read_elements(Layout& layout, const Read& read) {
  auto& value = layout.value;
  const hid_t type = layout.type.get();
  if (value.kind == Value::Kind::integer) {
    value.integers.resize(layout.count);
    if (read(H5T_NATIVE_INT64, value.integers.data()) < 0) fail("numbers cannot be read");
  } else if (value.kind == Value::Kind::real) {
    value.reals.resize(layout.count);
    if (read(H5T_NATIVE_DOUBLE, value.reals.data()) < 0) fail("numbers cannot be read");
  } else if (H5Tis_variable_str(type) > 0) {
    std::vector<char*> texts(layout.count, nullptr);
    if (read(type, texts.data()) < 0) fail("texts cannot be read");
    for (const char* text : texts) value.texts.push_back(unpadded(text == nullptr ? "" : text, H5Tget_strpad(type)));
    H5Dvlen_reclaim(type, layout.space.get(), H5P_DEFAULT, texts.data());
  } else {
    const auto size = H5Tget_size(type);
    std::string texts(layout.count * size, '\0');
    if (read(type, texts.data()) < 0) fail("texts cannot be read");
    for (std::size_t i = 0; i < layout.count; ++i)
      value.texts.push_back(unpadded(texts.substr(i * size, size), H5Tget_strpad(type)));
  }
}

bool readable(const Layout& layout) { return layout.value.kind != Value::Kind::other && layout.count > 0; }

herr_t add_attribute(hid_t object, const char* name, const H5A_info_t*, void* into) {
  try {
    const auto attribute = own(H5Aopen(object, name, H5P_DEFAULT), H5Aclose, "attribute");
    Layout layout(H5Aget_type(attribute.get()), H5Aget_space(attribute.get()));
    if (readable(layout))
      read_elements(layout, [&](hid_t type, void* memory) { return H5Aread(attribute.get(), type, memory); });
    static_cast<Object*>(into)->attributes.emplace(name, std::move(layout.value));
    return 0;
  } catch (const std::exception&) {  // must not pass through C
    return -1;
  }
}

herr_t add_child(hid_t, const char* name, const H5L_info_t* link, void* into) {
  if (link->type == H5L_TYPE_HARD) static_cast<Object*>(into)->children.push_back({name, 0});
  return 0;
}

Value read_dataset(hid_t dataset, std::uintmax_t file_bytes) {
  Layout layout(H5Dget_type(dataset), H5Dget_space(dataset));
  if (!readable(layout)) return std::move(layout.value);
  const auto stored = H5Dget_storage_size(dataset);
  layout.value.unwritten = stored == 0;
  if (layout.value.unwritten) return std::move(layout.value);
  // No filter shrinks further than deflate, 1032 to 1: a shape beyond that is damage, and must not ask for memory.
  constexpr double kMostCompression = 1100;
  const double wanted = static_cast<double>(layout.count) * static_cast<double>(H5Tget_size(layout.type.get()));
  if (wanted > kMostCompression * static_cast<double>(file_bytes))
    throw Damaged(
        fmt::format("its shape needs {:.0f} bytes, more than a file of {} bytes can hold", wanted, file_bytes));
  read_elements(
      layout, [&](hid_t type, void* memory) { return H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, memory); });
  return std::move(layout.value);
}

class LibraryTree final : public Tree {
 public:
  explicit LibraryTree(const std::filesystem::path& path) : bytes_(std::filesystem::file_size(path)) {
    const Hdf5 hdf5;
    const auto access = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "access");
    H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
    file_ = own(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose, "the file");
  }
  ~LibraryTree() override {
    const Hdf5 hdf5;
    file_ = {};
  }

  Node root() const override { return {"/", 0}; }
  Object load(const Node& node) override {
    const Hdf5 hdf5;
    try {
      return load_quietly(node.path);
    } catch (const Damaged& damage) {
      throw Damaged(fmt::format("{}: damaged: {}", one_line(node.path), damage.what()));
    }
  }

 private:
  Object load_quietly(const std::string& path) {
    const auto id = own(H5Oopen(file_.get(), path.c_str(), H5P_DEFAULT), H5Oclose, "the object");
    Object object;
    hsize_t from = 0;
    if (H5Aiterate2(id.get(), H5_INDEX_NAME, H5_ITER_NATIVE, &from, add_attribute, &object) < 0)
      fail("its attributes cannot be read");
    const auto kind = H5Iget_type(id.get());
    if (kind == H5I_GROUP && H5Literate(id.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add_child, &object) < 0)
      fail("its members cannot be read");
    if (kind == H5I_DATASET) object.data = read_dataset(id.get(), bytes_);
    return object;
  }

  std::uintmax_t bytes_;
  Handle file_;
};

}  // namespace

std::unique_ptr<Tree> open_library(const std::filesystem::path& path) { return std::make_unique<LibraryTree>(path); }

}  // namespace megaup::core::detail
