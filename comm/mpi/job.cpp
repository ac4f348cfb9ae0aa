#include <megaup/comm/mpi/detail/job.hpp>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include <megaup/comm/cores.hpp>
#include <megaup/comm/mpi/detail/call.hpp>

namespace megaup::comm::mpi {
namespace {

using Clock = std::chrono::steady_clock;
// How long a rank that failed hopes that all the others end by themselves (they saw the same error) before it tears
// them out of their waits.
constexpr auto kHope = std::chrono::seconds(1);
// How long a torn rank leaves the word to the rank that failed first.
constexpr auto kPolite = std::chrono::seconds(5);

constexpr int kNoFailure = INT_MAX, kKinds = 16;

}  // namespace

Job::Job(const LaunchOptions& options) {
  check(MPI_Comm_dup(MPI_COMM_WORLD, &world_), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_dup(world_, &ending_), "MPI_Comm_dup");
  check(MPI_Comm_rank(world_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(world_, &size_), "MPI_Comm_size");
  check(MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node_), "MPI_Comm_split_type");
  find_nodes();
  share_notice();
  rules_ = {.rank = rank_, .patience = options.patience, .crowded = crowded(), .aborted_by = &notice_->aborted_by};
}

void Job::find_nodes() {
  int first = rank_;
  check(MPI_Bcast(&first, 1, MPI_INT, 0, node_), "MPI_Bcast");
  nodes_.resize(static_cast<std::size_t>(size_));
  check(MPI_Allgather(&first, 1, MPI_INT, nodes_.data(), 1, MPI_INT, world_), "MPI_Allgather");
}

void Job::share_notice() {
  int node_rank = 0, unit = 1;
  check(MPI_Comm_rank(node_, &node_rank), "MPI_Comm_rank");
  MPI_Aint bytes = node_rank == 0 ? sizeof(Notice) : 0;
  void* base = nullptr;
  check(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, node_, &base, &notice_window_), "MPI_Win_allocate_shared");
  check(MPI_Win_shared_query(notice_window_, 0, &bytes, &unit, &base), "MPI_Win_shared_query");
  if (node_rank == 0) std::memset(base, 0, sizeof(Notice));
  check(MPI_Barrier(node_), "MPI_Barrier");
  notice_ = static_cast<Notice*>(base);
}

bool Job::crowded() const {
  const std::vector<int> mine = allowed_cores();
  int last = mine.back();
  check(MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_INT, MPI_MAX, node_), "MPI_Allreduce");
  std::vector<int> allowed(static_cast<std::size_t>(last) + 1, 0);
  for (const int core : mine) allowed[static_cast<std::size_t>(core)] = 1;
  check(MPI_Allreduce(MPI_IN_PLACE, allowed.data(), last + 1, MPI_INT, MPI_MAX, node_), "MPI_Allreduce");
  return std::count(nodes_.begin(), nodes_.end(), nodes_[static_cast<std::size_t>(rank_)]) >
         std::count(allowed.begin(), allowed.end(), 1);
}

void Job::complete(MPI_Request& request, const char* missing) {
  const auto done = [&] {
    int flag = 0;
    check(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    return flag != 0;
  };
  Waiting waiting(rules_);
  while (!done()) {
    if (waiting.step()) continue;
    const core::Error cause = impatience(rules_, missing);
    abort(cause);
    throw cause;
  }
}

std::optional<core::Error> Job::finish(const std::optional<core::Error>& mine) {
  if (aborted(*notice_)) tear_down();
  // Claimed at once, so that no watchdog of a rank that waits for this one passes for the first cause.
  const bool first_here = mine && claim(*notice_, rank_);
  int first = first_here ? rank_ * kKinds + static_cast<int>(mine->kind()) : kNoFailure;
  meet_at_the_end(mine, first);
  if (first == kNoFailure) return std::nullopt;
  if (first / kKinds == rank_) print_cause(mine->what(), rank_);
  // A launcher kills what is left of a job when a process ends with an error: the cause must be out before.
  check(MPI_Barrier(ending_), "MPI_Barrier");
  return core::Error(static_cast<core::ErrorKind>(first % kKinds), "", first / kKinds);
}

void Job::meet_at_the_end(const std::optional<core::Error>& mine, int& first) {
  MPI_Request request;
  check(MPI_Iallreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, ending_, &request), "MPI_Iallreduce");
  const auto deadline = Clock::now() + kHope;
  for (int done = 0;;) {
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    if (aborted(*notice_)) tear_down();
    if (mine && Clock::now() > deadline) {
      abort(*mine);
      tear_down();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void Job::tear_down() {
  const core::Error cause = first_cause(*notice_);
  const auto deadline = Clock::now() + kPolite;
  while (cause.rank() != rank_ && !told(*notice_) && Clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  tell(*notice_);
  MPI_Abort(MPI_COMM_WORLD, core::exit_status(cause.kind()));
  std::_Exit(core::exit_status(cause.kind()));  // a library whose MPI_Abort returns
}

void Job::release() {
  check(MPI_Win_free(&notice_window_), "MPI_Win_free");
  check(MPI_Comm_free(&node_), "MPI_Comm_free");
  check(MPI_Comm_free(&ending_), "MPI_Comm_free");
  check(MPI_Comm_free(&world_), "MPI_Comm_free");
}

}  // namespace megaup::comm::mpi
