#pragma once

namespace megaup::ops {

/// Starts Kokkos, and stops it at the end of its scope. One lives in main(), inside MPI's start and stop, around
/// everything that may prepare an operation. Where the program that links this library has started Kokkos already, it
/// does nothing.
class KokkosSession {
 public:
  explicit KokkosSession(int threads = 1);
  ~KokkosSession();
  KokkosSession(const KokkosSession&) = delete;
  KokkosSession& operator=(const KokkosSession&) = delete;

 private:
  bool started_;
};

}  // namespace megaup::ops
