#include <megaup/core/atomic_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <megaup/core/error.hpp>
#include <megaup/core/text.hpp>

namespace megaup::core {
namespace {

std::string shown(const std::filesystem::path& path) { return one_line(path.string()); }

[[noreturn]] void fail(const std::filesystem::path& path, const char* what, int why) {
  const char* mend =
      why == ENOSPC || why == EDQUOT ? "free space or choose another folder" : "choose a folder that can be written";
  throw Error(ErrorKind::environment,
              fmt::format("{}: {}: {} (errno {}): {}", shown(path), what, std::strerror(why), why, mend));
}

[[noreturn]] void refuse_existing(const std::filesystem::path& path) {
  throw Error(ErrorKind::usage,
              fmt::format("{}: exists and is not overwritten: choose another name, or give --force", shown(path)));
}

/// A new file beside the final one; removed again unless it got its final name.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target) : path_(target.string() + ".XXXXXX.tmp") {
    file_ = mkostemps(path_.data(), 4, O_CLOEXEC);
    if (file_ < 0) fail(path_, "cannot be made", errno);
    // mkostemps gives 0600; a result is as readable as any other file that the user makes.
    const mode_t mask = umask(0);
    umask(mask);
    if (fchmod(file_, 0666 & ~mask) != 0) fail(path_, "cannot be made", errno);
  }
  ~TemporaryFile() {
    if (file_ >= 0) close(file_);
    if (!path_.empty()) unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto n = ::write(file_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail(path_, "cannot be written", errno);
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    if (fsync(file_) != 0) fail(path_, "cannot be written to the disk", errno);
    const int file = std::exchange(file_, -1);
    if (close(file) != 0) fail(path_, "cannot be closed", errno);  // network file systems tell of a full disk here
  }

  void replace(const std::filesystem::path& target) {
    if (rename(path_.c_str(), target.c_str()) != 0) fail(target, "cannot be written", errno);
    path_.clear();
  }

  /// A second name for the file fails where one exists, in one step; a rename would replace it.
  void publish(const std::filesystem::path& target) {
    if (link(path_.c_str(), target.c_str()) == 0) return;  // the destructor takes the temporary name away
    if (errno == EEXIST) refuse_existing(target);
    const bool no_links = errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK;
    if (!no_links) fail(target, "cannot be written", errno);
    if (std::filesystem::exists(std::filesystem::symlink_status(target))) refuse_existing(target);
    replace(target);
  }

 private:
  std::string path_;
  int file_ = -1;
};

/// So that the new name survives a power cut. File systems that cannot do it do not need it.
void sync_folder(const std::filesystem::path& folder) {
  const int file = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  fsync(file);
  close(file);
}

}  // namespace

void write_file(const std::filesystem::path& path, std::string_view bytes, bool overwrite) {
  if (!overwrite && std::filesystem::exists(std::filesystem::symlink_status(path))) refuse_existing(path);
  {
    TemporaryFile file(path);
    file.write(bytes);
    if (overwrite)
      file.replace(path);
    else
      file.publish(path);
  }
  sync_folder(path.parent_path());
}

}  // namespace megaup::core
