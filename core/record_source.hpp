#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <megaup/core/record_bytes.hpp>
#include <megaup/core/record_tree.hpp>

namespace megaup::core::detail {

/// A result file opened for reading: object by object the classic reader or, where that gives up, the library.
class RecordSource {
 public:
  /// Throws Error{usage}: not HDF5, truncated, not closed by its writer; and what FileBytes throws.
  explicit RecordSource(const std::filesystem::path& path);

  const std::string& name() const { return name_; }  ///< the path, for messages
  Node root();
  Object load(const Node& node);
  /// The path of a member, as node and for messages.
  static Node child(const Node& group, const Child& member);

 private:
  Tree& library();

  std::filesystem::path path_;
  std::string name_;
  FileBytes bytes_;
  std::unique_ptr<Tree> classic_, library_;
};

}  // namespace megaup::core::detail
