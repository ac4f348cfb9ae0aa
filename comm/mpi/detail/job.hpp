#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include <megaup/comm/backend.hpp>
#include <megaup/comm/communicator.hpp>
#include <megaup/comm/mpi/detail/notice.hpp>
#include <megaup/comm/wait.hpp>

namespace megaup::comm::mpi {

/// One launch: what every communicator of this process shares.
class Job {
 public:
  /// Collective over MPI_COMM_WORLD.
  explicit Job(const LaunchOptions& options);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  MPI_Comm world() const { return world_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Node of each rank of the launch, numbered by its first rank.
  const std::vector<int>& nodes() const { return nodes_; }
  const WaitRules& rules() const { return rules_; }

  /// Completes a nonblocking call with the waiting policy. When that fails the request stays with MPI, which may still
  /// write to its buffers: so the launch is ended, and no MPI call but MPI_Abort follows.
  void complete(MPI_Request& request, const char* missing);
  void abort(const core::Error& cause) noexcept { publish(*notice_, cause, rank_); }

  /// Ends the launch with this rank's own error or nothing. Returns the error that launch() throws, if some rank
  /// failed: without text, as the first cause is printed by then. If some rank is torn out of a wait instead, all
  /// processes end here.
  std::optional<core::Error> finish(const std::optional<core::Error>& mine);
  /// Prints the first cause, once, and ends all processes.
  [[noreturn]] void tear_down();
  /// Collective: gives the handles of a finished launch back.
  void release();

 private:
  /// Agrees on the least `first` of all ranks.
  void meet_at_the_end(const std::optional<core::Error>& mine, int& first);
  void find_nodes();
  void share_notice();
  bool crowded() const;

  MPI_Comm world_ = MPI_COMM_NULL, node_ = MPI_COMM_NULL;
  MPI_Comm ending_ = MPI_COMM_NULL;  // for finish() alone: other ranks may still be in collectives of the world
  MPI_Win notice_window_ = MPI_WIN_NULL;
  Notice* notice_ = nullptr;
  int rank_ = 0, size_ = 1;
  std::vector<int> nodes_;
  WaitRules rules_;
};

}  // namespace megaup::comm::mpi
