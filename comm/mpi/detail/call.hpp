#pragma once

namespace megaup::comm::mpi {

/// Throws Error{environment} with the library's own words when an MPI function returned `code`; `call` is the
/// function's name.
void check(int code, const char* call);

}  // namespace megaup::comm::mpi
