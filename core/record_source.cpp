#include <megaup/core/record_source.hpp>

#include <fmt/format.h>

#include <megaup/core/error.hpp>
#include <megaup/core/text.hpp>

namespace megaup::core::detail {
namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw Error(ErrorKind::usage, fmt::format("{}: superblock: {}", name, what));
}

/// The part of the superblock that says whether the file is whole, for every version (HDF5 File Format Specification 3.0, II.A).
void check_superblock(FileBytes& file, const std::string& name) {
  constexpr std::uint64_t kSmallest = 48;  // of version 2
  constexpr const char* kCopyAgain = "copy it again from where it was written";
  if (file.size() < kSmallest) fail(name, fmt::format("truncated or not HDF5 ({} bytes): {}", file.size(), kCopyAgain));
  const auto head = file.bytes(0, kSmallest);
  if (!head.starts_with(kSignature)) return;  // after a user block perhaps: the library looks for it
  Cursor in(head);
  in.skip(8);
  const auto version = in.number(1);
  const bool is_classic = version < 2;
  in.skip(is_classic ? 4 : 0);
  const auto offset_bytes = in.number(1);
  in.skip(1);
  if (offset_bytes != 8) return;
  const auto flags = in.number(1);  // classic: reserved
  if (!is_classic && (flags & 5) != 0)
    fail(name,
         "not closed by its writer, which was killed or is still running: wait for it, or try `h5clear -s` on a copy "
         "of the file");
  in.skip(is_classic ? (version == 1 ? 12 : 8) : 0);
  const auto base = in.number(8);
  in.skip(8);
  const auto end = in.number(8);
  if (base == 0 && end > file.size())
    fail(name, fmt::format("truncated or not HDF5: it has {} bytes, its superblock says {}: {}", file.size(), end,
                           kCopyAgain));
}

}  // namespace

RecordSource::RecordSource(const std::filesystem::path& path)
    : path_(path), name_(one_line(path.string())), bytes_(path) {
  check_superblock(bytes_, name_);
  try {
    classic_ = open_classic(bytes_);
  } catch (const NotClassic&) {
    library();
  } catch (const Damaged&) {
    library();  // no signature at the start: it may follow a user block
  }
}

Tree& RecordSource::library() {
  if (!library_) {
    try {
      library_ = open_library(path_);
    } catch (const Damaged& why) {
      fail(name_, fmt::format("truncated or not HDF5: {}: give a file that `megaup run` wrote", why.what()));
    }
  }
  return *library_;
}

Node RecordSource::root() { return classic_ ? classic_->root() : library().root(); }

Object RecordSource::load(const Node& node) {
  if (!classic_ || node.address == 0) return library().load(node);
  try {
    return classic_->load(node);
  } catch (const NotClassic&) {
    return library().load(node);
  }
}

Node RecordSource::child(const Node& group, const Child& member) {
  return {group.path == "/" ? "/" + member.name : group.path + "/" + member.name, member.address};
}

}  // namespace megaup::core::detail
