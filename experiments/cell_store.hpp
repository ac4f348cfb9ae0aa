#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <megaup/core/record.hpp>

namespace megaup::experiments {

/// The folder `<out>.cells` in which a run keeps its finished cells until they are merged: one small file a cell, each written whole
/// (temporary name, close, fsync, rename), and the spec as given. A kill at any moment loses at most the cell in hand.
///   <out>.cells/spec.yaml      the bytes of the spec
///   <out>.cells/spec.name      what messages call it
///   <out>.cells/<id>.h5        a record with one cell
///   <out>.cells/current        id of the cell in hand (for `status`)
///   <out>.cells/lock           held by the process that measures
class CellStore {
 public:
  explicit CellStore(std::filesystem::path output);

  static std::filesystem::path folder_of(const std::filesystem::path& output);
  const std::filesystem::path& output() const { return output_; }
  const std::filesystem::path& folder() const { return folder_; }
  bool exists() const;  ///< there is an unfinished run

  /// Makes the folder and takes its lock. Throws Error{environment} naming the holder (host and pid) when another run has it.
  void open();
  /// Keeps the spec, for resume. Throws Error{environment} as core::write does.
  void keep_spec(const std::string& yaml, const std::string& name) const;
  std::optional<std::string> spec_yaml() const;
  std::string spec_name() const;

  /// "host H pid N" of the process that holds the lock; nothing if nobody measures.
  std::optional<std::string> holder() const;

  void set_current(const std::string& id) const;
  std::optional<std::string> current() const;

  /// A record with one cell. Replaces an earlier one of that id.
  void put(const core::Record& record) const;
  /// The stored cell of that id; nothing if there is none. An unreadable file counts as none, and `why` says so.
  std::optional<core::Record> get(const std::string& id, std::string* why = nullptr) const;
  /// Ids of all stored cells, sorted.
  std::vector<std::string> ids() const;

  /// Deletes one stored cell.
  void discard(const std::string& id) const;
  /// Deletes the folder and everything in it.
  void remove() const;

  ~CellStore();
  CellStore(const CellStore&) = delete;
  CellStore& operator=(const CellStore&) = delete;

 private:
  std::filesystem::path file(const std::string& id) const;

  std::filesystem::path output_, folder_;
  int lock_ = -1;
};

}  // namespace megaup::experiments
