#include <megaup/core/record.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include <hdf5.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/core/test_support/files.hpp>

/// Files that others wrote, edited through the HDF5 library itself.
using namespace megaup::core;
using Catch::Matchers::ContainsSubstring;
using test_support::error_of, test_support::kGolden;
namespace fs = std::filesystem;

namespace {

/// A copy of a golden file, to be edited.
struct Copy : test_support::GoldenCopy {
  using GoldenCopy::GoldenCopy;
  template <class Edit>
  void edit(const Edit& edit) const {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    REQUIRE(file >= 0);
    edit(file);
    REQUIRE(H5Fclose(file) >= 0);
  }
};

CellRecord cell_of(const fs::path& path, const std::string& id) {
  for (auto& cell : read_record(path).cells)
    if (cell.id == id) return cell;
  FAIL("no cell " << id);
  return {};
}

hid_t string_type(std::size_t size, H5T_str_t padding, H5T_cset_t characters) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, size);
  H5Tset_strpad(type, padding);
  H5Tset_cset(type, characters);
  return type;
}

void put_attribute(hid_t file, const char* object, const char* name, hid_t type, hid_t space, const void* value) {
  if (H5Aexists_by_name(file, object, name, H5P_DEFAULT) > 0) H5Adelete_by_name(file, object, name, H5P_DEFAULT);
  const hid_t attribute = H5Acreate_by_name(file, object, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(attribute >= 0);
  REQUIRE(H5Awrite(attribute, type, value) >= 0);
  H5Aclose(attribute);
}

void put_text(hid_t file, const char* object, const char* name, const std::string& text) {
  const hid_t type = string_type(text.size(), H5T_STR_NULLPAD, H5T_CSET_UTF8), space = H5Screate(H5S_SCALAR);
  put_attribute(file, object, name, type, space, text.c_str());
  H5Tclose(type);
  H5Sclose(space);
}

/// Puts a dataset of zeros (or without data, if `written` is false) in place of another.
void replace(hid_t file, const char* name, hid_t type, hid_t space, bool written = true, hid_t creation = H5P_DEFAULT,
             const void* data = nullptr) {
  REQUIRE(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
  const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  REQUIRE(dataset >= 0);
  const auto n = H5Sget_simple_extent_npoints(space);
  std::vector<char> zeros(static_cast<std::size_t>(written && n > 0 ? n : 0) * H5Tget_size(type), 0);
  if (written && n > 0)
    REQUIRE(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data ? data : zeros.data()) >= 0);
  H5Dclose(dataset);
  H5Sclose(space);
  put_text(file, name, "units", "s");
}

hid_t simple(std::vector<hsize_t> shape) {
  return H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
}

}  // namespace

TEST_CASE("a missing attribute of the file is a one-line error that names it") {
  const auto [object, name] = GENERATE(table<const char*, const char*>({{"/", "format"},
                                                                        {"/", "format_version"},
                                                                        {"/", "created"},
                                                                        {"/", "megaup_version"},
                                                                        {"/", "git"},
                                                                        {"/", "source"},
                                                                        {"/", "fabric"},
                                                                        {"/environment", "host"}}));
  const Copy copy;
  copy.edit([object = object, name = name](hid_t file) { H5Adelete_by_name(file, object, name, H5P_DEFAULT); });
  CHECK_THAT(error_of(copy.path), ContainsSubstring(std::string(object) + ": attribute '" + name + "' is missing"));
}

TEST_CASE("a missing attribute of a cell is that cell's fault, and the others are read") {
  const auto* name = GENERATE("model", "status", "dtype", "format", "sequence_order", "qkv_weight", "hidden",
                              "query_heads", "kv_heads", "head_dim", "cp", "batch", "tokens_per_rank");
  const Copy copy;
  copy.edit([&](hid_t file) { H5Adelete_by_name(file, "/cells/even", name, H5P_DEFAULT); });
  const auto record = read_record(copy.path);
  for (const auto& cell : record.cells) {
    if (cell.id == "even")
      CHECK_THAT(cell.fault, ContainsSubstring("/cells/even: attribute '" + std::string(name) + "' is missing"));
    else
      CHECK(cell.fault.empty());
  }
}

TEST_CASE("a missing unit is the cell's fault") {
  const Copy copy;
  copy.edit([](hid_t file) { H5Adelete_by_name(file, "/cells/even/latency", "units", H5P_DEFAULT); });
  CHECK_THAT(cell_of(copy.path, "even").fault,
             ContainsSubstring("/cells/even/latency: attribute 'units': unit missing"));
  CHECK(cell_of(copy.path, "harm").fault.empty());
}

TEST_CASE("a missing member of the file is an error that names it") {
  const auto* name = GENERATE("cells", "environment", "spec", "spec/yaml", "spec/resolved");
  const Copy copy;
  copy.edit([&](hid_t file) { H5Ldelete(file, name, H5P_DEFAULT); });
  CHECK_THAT(error_of(copy.path), ContainsSubstring("'" + fs::path(name).filename().string() + "' is missing"));
}

TEST_CASE("missing datasets of a measured cell are its fault") {
  const auto [name, expected] =
      GENERATE(table<const char*, const char*>({{"latency", "/cells/even/latency: is missing"},
                                                {"operation", "axis 0 'operation' has 0 entries"},
                                                {"arm", "axis 1 'arm' has 0 entries"},
                                                {"order", "axis 2 'order' has 0 entries"}}));
  const Copy copy;
  copy.edit([name = name](hid_t file) { H5Ldelete(file, (std::string("/cells/even/") + name).c_str(), H5P_DEFAULT); });
  CHECK_THAT(cell_of(copy.path, "even").fault, ContainsSubstring(expected));
}

TEST_CASE("foreign formats and other major versions are refused by name, later minor versions read") {
  const Copy copy;
  const auto set = [&](const char* name, const char* text) {
    copy.edit([&](hid_t file) { put_text(file, "/", name, text); });
  };
  set("format_version", "1.7.3");
  CHECK(read_record(copy.path).format_version == "1.7.3");
  set("format_version", "2.0.0");
  CHECK_THAT(error_of(copy.path),
             ContainsSubstring("format_version") && ContainsSubstring("2.0.0") && ContainsSubstring("1.x"));
  set("format_version", "10.0.0");
  CHECK_THAT(error_of(copy.path), ContainsSubstring("10.0.0 cannot be read"));
  set("format_version", "one");
  CHECK_THAT(error_of(copy.path), ContainsSubstring("'one' is not a version"));
  set("format", "openPMD");
  CHECK_THAT(error_of(copy.path), ContainsSubstring("'openPMD' is not 'megaup-measurement'"));
}

TEST_CASE("unknown attributes are kept where a record has room for them, and never disturb") {
  const Copy copy;
  copy.edit([](hid_t file) {
    put_text(file, "/", "campaign", "autumn");
    put_text(file, "/cells/even", "note", "by hand");
    const hid_t scalar = H5Screate(H5S_SCALAR), null = H5Screate(H5S_NULL), pair = simple({2});
    const double value = 1.5;
    const double values[2] = {1, 2};
    const hobj_ref_t reference = 0;
    put_attribute(file, "/cells/even", "share", H5T_NATIVE_DOUBLE, scalar, &value);
    put_attribute(file, "/cells/even", "pair", H5T_NATIVE_DOUBLE, pair, values);
    put_attribute(file, "/cells/even", "nothing", H5T_NATIVE_DOUBLE, null, &value);
    put_attribute(file, "/cells/even", "pointer", H5T_STD_REF_OBJ, scalar, &reference);
    for (const hid_t space : {scalar, null, pair}) H5Sclose(space);
  });
  const auto record = read_record(copy.path);
  CHECK(record.extra == Attributes{{"campaign", "autumn"}});
  CHECK(cell_of(copy.path, "even").extra == Attributes{{"note", "by hand"}, {"share", 1.5}});
  CHECK(cell_of(copy.path, "even").fault.empty());
}

TEST_CASE("times of an unusable shape are four different faults") {
  const Copy copy;
  copy.edit([](hid_t file) {
    replace(file, "/cells/drift/latency", H5T_IEEE_F64LE, simple({0}));
    replace(file, "/cells/even/latency", H5T_IEEE_F64LE, H5Screate(H5S_NULL));
    replace(file, "/cells/harm/latency", H5T_IEEE_F64LE, H5Screate(H5S_SCALAR));
    replace(file, "/cells/spike/latency", H5T_IEEE_F64LE, simple({4, 40}));
  });
  CHECK(cell_of(copy.path, "drift").fault == "/cells/drift/latency: has shape [0], and should have 5 axes");
  CHECK(cell_of(copy.path, "even").fault == "/cells/even/latency: has a null dataspace, and should have 5 axes");
  CHECK(cell_of(copy.path, "harm").fault == "/cells/harm/latency: is a scalar, and should have 5 axes");
  CHECK(cell_of(copy.path, "spike").fault == "/cells/spike/latency: has shape [4, 40], and should have 5 axes");
  CHECK(cell_of(copy.path, "rankmax").fault.empty());
}

TEST_CASE("an axis of length zero, or of another length than its names, is a fault") {
  const Copy copy;
  copy.edit([](hid_t file) {
    replace(file, "/cells/drift/latency", H5T_IEEE_F64LE, simple({4, 2, 0, 40, 2}));
    replace(file, "/cells/even/latency", H5T_IEEE_F64LE, simple({4, 3, 2, 40, 2}));
    replace(file, "/cells/harm/latency", H5T_IEEE_F64LE, simple({4, 2, 1, 40, 2}));
    replace(file, "/cells/spike/order", H5T_STD_U8LE, simple({3}));
  });
  CHECK(cell_of(copy.path, "drift").fault == "/cells/drift/latency: is empty: its shape is [4, 2, 0, 40, 2]");
  CHECK(cell_of(copy.path, "even").fault ==
        "/cells/even/latency: has shape [4, 3, 2, 40, 2], but its axis 1 'arm' has 2 entries");
  CHECK(cell_of(copy.path, "harm").fault ==
        "/cells/harm/latency: has shape [4, 2, 1, 40, 2], but its axis 2 'order' has 2 entries");
  CHECK(cell_of(copy.path, "spike").fault ==
        "/cells/spike/latency: has shape [4, 2, 2, 40, 2], but its axis 2 'order' has 3 entries");
}

TEST_CASE("types, values and data that times cannot have are faults") {
  const Copy copy;
  copy.edit([](hid_t file) {
    replace(file, "/cells/drift/latency", H5T_STD_I64LE, simple({4, 2, 2, 40, 2}));
    replace(file, "/cells/even/latency", H5T_IEEE_F64LE, simple({4, 2, 2, 40, 2}), false);
    const std::uint8_t orders[] = {0, 7};
    replace(file, "/cells/harm/order", H5T_STD_U8LE, simple({2}), true, H5P_DEFAULT, orders);
    H5Ldelete(file, "/cells/spike/latency", H5P_DEFAULT);
    H5Gclose(H5Gcreate2(file, "/cells/spike/latency", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  });
  CHECK(cell_of(copy.path, "drift").fault ==
        "/cells/drift/latency: does not hold 32- or 64-bit floating-point numbers");
  CHECK(cell_of(copy.path, "even").fault == "/cells/even/latency: was never written: what it holds is fill values");
  CHECK_THAT(cell_of(copy.path, "harm").fault, ContainsSubstring("/cells/harm/order: has the value 7"));
  CHECK(cell_of(copy.path, "spike").fault == "/cells/spike/latency: is a group, and should be a dataset");
}

TEST_CASE("a shape that asks for more memory than the file can fill is a fault, not an allocation") {
  const Copy copy;
  copy.edit([](hid_t file) {
    replace(file, "/cells/even/latency", H5T_IEEE_F64LE, simple({4, 2, 2, 1000000000, 100}), false);
    const hid_t chunked = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk[] = {4, 2, 2, 40, 2};
    H5Pset_chunk(chunked, 5, chunk);
    replace(file, "/cells/harm/latency", H5T_IEEE_F64LE, simple({4, 2, 2, 1000000000, 100}), false, chunked);
    H5Pclose(chunked);
  });
  CHECK_THAT(cell_of(copy.path, "even").fault, ContainsSubstring("do not fit a file"));
  CHECK_THAT(cell_of(copy.path, "harm").fault, ContainsSubstring("was never written"));
}

TEST_CASE("texts of any kind and padding read the same") {
  const Copy copy;
  const auto [length, padding, characters] =
      GENERATE(table<std::size_t, H5T_str_t, H5T_cset_t>({{7, H5T_STR_NULLPAD, H5T_CSET_ASCII},
                                                          {16, H5T_STR_NULLPAD, H5T_CSET_UTF8},
                                                          {16, H5T_STR_NULLTERM, H5T_CSET_ASCII},
                                                          {16, H5T_STR_SPACEPAD, H5T_CSET_UTF8},
                                                          {16, H5T_STR_SPACEPAD, H5T_CSET_ASCII},
                                                          {H5T_VARIABLE, H5T_STR_NULLTERM, H5T_CSET_ASCII},
                                                          {H5T_VARIABLE, H5T_STR_NULLTERM, H5T_CSET_UTF8}}));
  copy.edit([&, length = length, padding = padding, characters = characters](hid_t file) {
    const hid_t type = string_type(length, padding, characters), scalar = H5Screate(H5S_SCALAR);
    std::string text = "qkv_fwd", names;
    if (length != H5T_VARIABLE) text.resize(length, padding == H5T_STR_SPACEPAD ? ' ' : '\0');
    const char* pointer = text.c_str();
    put_attribute(file, "/cells/even", "model", type, scalar,
                  length == H5T_VARIABLE ? static_cast<const void*>(&pointer) : text.c_str());
    const char* pointers[] = {pointer, pointer, pointer, pointer};
    for (int i = 0; i < 4; ++i) names += text;
    replace(file, "/cells/even/operation", type, simple({4}), true, H5P_DEFAULT,
            length == H5T_VARIABLE ? static_cast<const void*>(pointers) : names.c_str());
    H5Sclose(scalar);
    H5Tclose(type);
  });
  const auto cell = cell_of(copy.path, "even");
  CHECK(cell.fault.empty());
  CHECK(cell.model == "qkv_fwd");
  CHECK(cell.operations == std::vector<std::string>(4, "qkv_fwd"));
}

TEST_CASE("numbers of other widths and byte orders read the same") {
  const Copy copy;
  copy.edit([](hid_t file) {
    const std::vector<float> milliseconds(4 * 2 * 2 * 40 * 2, 1.5f);
    const hid_t space = simple({4, 2, 2, 40, 2}), scalar = H5Screate(H5S_SCALAR);
    H5Ldelete(file, "/cells/even/latency", H5P_DEFAULT);
    const hid_t dataset =
        H5Dcreate2(file, "/cells/even/latency", H5T_IEEE_F32BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, milliseconds.data());
    H5Dclose(dataset);
    put_text(file, "/cells/even/latency", "units", "ms");
    const std::uint8_t big_endian[] = {0x00, 0x03};
    put_attribute(file, "/cells/even", "cp", H5T_STD_U16BE, scalar, big_endian);
    const std::int8_t negative = -5;
    put_attribute(file, "/cells/even", "batch", H5T_STD_I8LE, scalar, &negative);
    H5Sclose(space);
    H5Sclose(scalar);
  });
  const auto cell = cell_of(copy.path, "even");
  CHECK(cell.fault.empty());
  CHECK(cell.latency == std::vector<double>(1280, 1.5e-3));
  CHECK(cell.cp == 3);
  CHECK(cell.batch == -5);
}

TEST_CASE("an attribute of another kind than its own is named") {
  const Copy copy;
  copy.edit([](hid_t file) {
    put_text(file, "/cells/even", "cp", "four");
    put_text(file, "/cells/harm", "status", "\xff\xfe");
    const hid_t scalar = H5Screate(H5S_SCALAR);
    const double value = 4;
    put_attribute(file, "/cells/spike", "model", H5T_NATIVE_DOUBLE, scalar, &value);
    H5Sclose(scalar);
  });
  CHECK(cell_of(copy.path, "even").fault == "/cells/even: attribute 'cp' is not one whole number");
  CHECK(cell_of(copy.path, "spike").fault == "/cells/spike: attribute 'model' is not one text");
  CHECK(cell_of(copy.path, "harm").status ==
        "\xef\xbf\xbd\xef\xbf\xbd");  // bytes that are not UTF-8 never reach JSON or a page
}

TEST_CASE("the same content in the newest file structures, chunked and compressed, reads the same") {
  const Copy copy;
  const auto expected = read_record(copy.path);
  const auto path = copy.folder.path / "newest.h5";
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), old = H5Fopen(copy.path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  for (const auto* name : {"cells", "spec", "environment"})
    REQUIRE(H5Ocopy(old, name, file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
  for (const auto& [name, text] :
       std::vector<std::pair<const char*, std::string>>{{"format", "megaup-measurement"},
                                                        {"format_version", "1.0.0"},
                                                        {"created", expected.created},
                                                        {"megaup_version", expected.megaup_version},
                                                        {"git", expected.git},
                                                        {"source", "measured"},
                                                        {"fabric", "host-memory"}})
    put_text(file, "/", name, text);
  const hid_t packed = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t chunk[] = {1, 1, 1, 40, 2};
  H5Pset_chunk(packed, 5, chunk);
  H5Pset_deflate(packed, 6);
  const auto& drift = expected.cells[0];
  replace(file, "/cells/drift/latency", H5T_IEEE_F64LE, simple({4, 2, 2, 40, 2}), true, packed, drift.latency.data());
  H5Pclose(packed);
  H5Pclose(access);
  H5Fclose(old);
  REQUIRE(H5Fclose(file) >= 0);

  const auto read = read_record(path);
  REQUIRE(read.cells.size() == expected.cells.size());
  for (std::size_t i = 0; i < read.cells.size(); ++i) {
    CHECK(read.cells[i].fault.empty());
    CHECK(read.cells[i].id == expected.cells[i].id);
    CHECK(read.cells[i].model == expected.cells[i].model);
    CHECK(read.cells[i].arms == expected.cells[i].arms);
    CHECK(read.cells[i].order == expected.cells[i].order);
    CHECK(read.cells[i].latency == expected.cells[i].latency);
  }
}

TEST_CASE("one compressed dataset in a classic file goes through the library, the rest does not change") {
  const Copy copy;
  const auto expected = read_record(copy.path);
  copy.edit([&](hid_t file) {
    const hid_t packed = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk[] = {1, 1, 1, 40, 2};
    H5Pset_chunk(packed, 5, chunk);
    H5Pset_deflate(packed, 9);
    replace(file, "/cells/drift/latency", H5T_IEEE_F64LE, simple({4, 2, 2, 40, 2}), true, packed,
            expected.cells[0].latency.data());
    H5Pclose(packed);
  });
  const auto read = read_record(copy.path);
  CHECK(read.cells[0].latency == expected.cells[0].latency);
  CHECK(read.cells[1].latency == expected.cells[1].latency);
}

TEST_CASE("links that are not hard are not followed") {
  const Copy copy;
  copy.edit([](hid_t file) {
    H5Lcreate_soft("/cells/even", file, "/cells/soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/nowhere", file, "/cells/dangling", H5P_DEFAULT, H5P_DEFAULT);
  });
  CHECK(read_record(copy.path).cells.size() == 5);
}
