#include <megaup/core/record_handle.hpp>

#include <hdf5.h>

#include <type_traits>

#include <megaup/core/text.hpp>

namespace megaup::core::detail {
namespace {

static_assert(std::is_same_v<hid_t, std::int64_t> && std::is_same_v<herr_t, int>);

/// The library's state belongs to the process, and so does its lock.
std::mutex& process_lock() {
  static std::mutex lock;
  return lock;
}

herr_t keep_innermost(unsigned, const H5E_error2_t* error, void* text) {
  if (error->desc != nullptr && *error->desc != '\0') *static_cast<std::string*>(text) = one_line(error->desc);
  return 0;
}

}  // namespace

Hdf5::Hdf5() : lock_(process_lock()) {
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_to_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5::~Hdf5() { H5Eset_auto2(H5E_DEFAULT, print_, print_to_); }

std::string Hdf5::reason() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_innermost, &text);
  return text.empty() ? "no reason given" : text;
}

}  // namespace megaup::core::detail
