#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <vector>

namespace megaup::comm::mpi {

class Job;

/// MPI handles of one group whose release is collective (windows, communicators). A rank gives one up locally and at
/// any time, also while an exception unwinds: a destructor that waited for its peers would hang when they fail
/// elsewhere. collect() then releases what every rank has given up. Entries are added in collective calls, so all ranks
/// have the same list.
class Releases {
 public:
  struct Entry {
    std::function<void()> release;  ///< collective
    std::function<bool()> idle;     ///< whether nothing else depends on it any more
    bool given_up = false;
  };

  std::shared_ptr<Entry> add(
      std::function<void()> release, std::function<bool()> idle = [] { return true; });
  /// Collective over `comm`.
  void collect(Job& job, MPI_Comm comm);
  /// Whether this rank has given up everything.
  bool idle() const;
  /// Collective: releases everything that is left.
  void release_all();

 private:
  std::vector<std::shared_ptr<Entry>> entries_;  // in the order of creation
};

}  // namespace megaup::comm::mpi
