#include <megaup/core/file_lock.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace megaup::core {

bool locking_enabled() {
  const char* setting = std::getenv("HDF5_USE_FILE_LOCKING");
  if (setting == nullptr) return true;
  const std::string_view word = setting;
  return word != "FALSE" && word != "0";
}

bool is_locked(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  const bool locked = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);  // gives the lock back
  return locked;
}

}  // namespace megaup::core
