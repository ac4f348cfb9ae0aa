#include <megaup/comm/mpi/detail/call.hpp>

#include <mpi.h>

#include <string_view>

#include <fmt/format.h>

#include <megaup/core/error.hpp>

namespace megaup::comm::mpi {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  throw core::Error(
      core::ErrorKind::environment,
      fmt::format("{} failed with code {}: {}", call, code, std::string_view(text, static_cast<std::size_t>(length))));
}

}  // namespace megaup::comm::mpi
