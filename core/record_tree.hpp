#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

/// What the record reader needs to see of a file, whoever takes its bytes apart. Two do:
///   classic   the structures that HDF5 writes by default (superblock 0 or 1), taken apart here with every offset checked. Record files are
///             of this kind. The library needs 200 us a cell and dies on some damaged files of this kind, whose structures have no checksums.
///   library   every other kind of HDF5 file, through libhdf5.
namespace megaup::core::detail {

/// An attribute or a dataset. The vector of its kind holds the elements, row-major.
struct Value {
  enum class Kind : std::uint8_t { text, integer, real, other };
  Kind kind = Kind::other;          ///< other: a type that records do not use; its elements are not read
  bool null = false;                ///< the null dataspace: no elements and no shape
  bool unwritten = false;           ///< has elements by its shape, but no storage: reading gives fill values
  std::vector<std::int64_t> shape;  ///< empty: a scalar
  std::vector<std::string> texts;   ///< padding removed, bytes as stored
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
};

/// An object of the file: its path for the library and for messages, its address for the classic reader.
struct Node {
  std::string path;
  std::uint64_t address = 0;
};

struct Child {
  std::string name;
  std::uint64_t address = 0;
};

struct Object {
  std::map<std::string, Value> attributes;
  std::vector<Child> children;  ///< of a group: its hard links, by name
  std::optional<Value> data;    ///< of a dataset
};

class Tree {
 public:
  virtual ~Tree() = default;
  virtual Node root() const = 0;
  /// Throws Damaged naming the object.
  virtual Object load(const Node& node) = 0;
};

/// Bytes that contradict the file format. The text is one line.
struct Damaged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The classic reader met something that it leaves to the library: chunks, filters, structures of newer versions.
struct NotClassic {};

class FileBytes;
std::unique_ptr<Tree> open_classic(FileBytes& bytes);
std::unique_ptr<Tree> open_library(const std::filesystem::path& path);

}  // namespace megaup::core::detail
