#include <megaup/experiments/cell_store.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include <megaup/core/atomic_file.hpp>

namespace megaup::experiments {
namespace {

namespace fs = std::filesystem;

std::string host_name() {
  char name[256] = "unknown";
  gethostname(name, sizeof name - 1);
  return name;
}

std::optional<std::string> read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return {};
  return std::string{std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

CellStore::CellStore(fs::path output) : output_(std::move(output)), folder_(folder_of(output_)) {}

CellStore::~CellStore() {
  if (lock_ >= 0) close(lock_);  // releases the lock
}

fs::path CellStore::folder_of(const fs::path& output) { return output.string() + ".cells"; }
bool CellStore::exists() const { return fs::exists(folder_ / "spec.yaml"); }
fs::path CellStore::file(const std::string& id) const { return folder_ / (id + ".h5"); }

void CellStore::open() {
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed)
    throw core::Error(core::ErrorKind::environment,
                      fmt::format("{}: cannot make the folder for finished cells ({}): choose an output in a writable folder", folder_.string(),
                                  failed.message()));
  const fs::path path = folder_ / "lock";
  lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ < 0 || flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    const int why = errno;
    const auto holder = read_text(path).value_or("");
    if (why == EWOULDBLOCK)
      throw core::Error(core::ErrorKind::environment, fmt::format("{}: another run is measuring into it ({}): wait for it, stop it, or choose another output",
                                                                  folder_.string(), holder.empty() ? "holder unknown" : holder));
    throw core::Error(core::ErrorKind::environment, fmt::format("{}: cannot lock ({})", path.string(), std::strerror(why)));
  }
  const auto me = fmt::format("host {} pid {}", host_name(), getpid());
  if (ftruncate(lock_, 0) != 0 || pwrite(lock_, me.data(), me.size(), 0) < 0)
    throw core::Error(core::ErrorKind::environment, fmt::format("{}: cannot write ({})", path.string(), std::strerror(errno)));
}

std::optional<std::string> CellStore::holder() const {
  const fs::path path = folder_ / "lock";
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const bool held = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);
  return held ? read_text(path) : std::nullopt;
}

void CellStore::keep_spec(const std::string& yaml, const std::string& name) const {
  core::write_file(folder_ / "spec.yaml", yaml, true);
  core::write_file(folder_ / "spec.name", name, true);
}

std::optional<std::string> CellStore::spec_yaml() const { return read_text(folder_ / "spec.yaml"); }
std::string CellStore::spec_name() const { return read_text(folder_ / "spec.name").value_or((folder_ / "spec.yaml").string()); }
void CellStore::set_current(const std::string& id) const { core::write_file(folder_ / "current", id, true); }

std::optional<std::string> CellStore::current() const {
  auto id = read_text(folder_ / "current");
  return id && !id->empty() ? id : std::nullopt;
}

void CellStore::put(const core::Record& record) const { core::write_record(record, file(record.cells.at(0).id), true); }

std::optional<core::Record> CellStore::get(const std::string& id, std::string* why) const {
  if (!fs::exists(file(id))) return {};
  try {
    auto record = core::read_record(file(id));
    if (record.cells.size() == 1 && record.cells[0].id == id && record.cells[0].fault.empty()) return record;
    if (why) *why = record.cells.size() == 1 ? record.cells[0].fault : "holds another cell";
  } catch (const core::Error& error) {
    if (why) *why = error.what();
  }
  return {};
}

std::vector<std::string> CellStore::ids() const {
  std::vector<std::string> out;
  if (!exists()) return out;
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.path().extension() == ".h5") out.push_back(entry.path().stem().string());
  std::sort(out.begin(), out.end());
  return out;
}

void CellStore::discard(const std::string& id) const { fs::remove(file(id)); }

void CellStore::remove() const {
  std::error_code ignored;  // a leftover folder is untidy, not wrong: the merged file is complete by now
  fs::remove(folder_ / "spec.yaml", ignored);  // first: a kill in between leaves no folder that looks like an unfinished run
  fs::remove_all(folder_, ignored);
}

}  // namespace megaup::experiments
