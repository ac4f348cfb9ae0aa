#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <megaup/core/error.hpp>

namespace megaup::comm::mpi {

/// The word that ends a launch, and its cause, in memory shared by the processes of one node. Begins as zero bytes.
/// Every field but the text is read and written as an atomic; the text is written before aborted_by and read after it.
struct Notice {
  static constexpr std::size_t kTextBytes = 4096;  // longer causes are cut

  std::uint32_t claimed_by;  ///< 1 + the rank whose error is the first cause
  std::uint32_t aborted_by;  ///< the same, once kind and text are there: what waits look at
  std::uint32_t told;        ///< 0, 1 while a process prints the cause, 2 when it is printed
  std::uint32_t kind;        ///< a core::ErrorKind
  char text[kTextBytes];
};

/// Reserves the place of the first cause, without ending anything yet. False if another rank has it.
bool claim(Notice& notice, int rank) noexcept;
/// Makes this the first cause unless another rank has claimed that. Returns when there is a complete one: waits throw
/// from then on.
void publish(Notice& notice, const core::Error& cause, int rank) noexcept;
/// Writes "rank r: text" to stderr.
void print_cause(const char* text, int rank) noexcept;
/// Prints the first cause on stderr, once for all processes of the node; returns when it is printed.
void tell(Notice& notice) noexcept;
bool aborted(Notice& notice) noexcept;
bool told(Notice& notice) noexcept;
/// The first cause, to be called after aborted().
core::Error first_cause(const Notice& notice);

}  // namespace megaup::comm::mpi
