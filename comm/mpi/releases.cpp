#include <megaup/comm/mpi/detail/releases.hpp>

#include <algorithm>
#include <cstdint>

#include <megaup/comm/mpi/detail/call.hpp>
#include <megaup/comm/mpi/detail/job.hpp>

namespace megaup::comm::mpi {

std::shared_ptr<Releases::Entry> Releases::add(std::function<void()> release, std::function<bool()> idle) {
  entries_.push_back(std::make_shared<Entry>(Entry{std::move(release), std::move(idle)}));
  return entries_.back();
}

void Releases::collect(Job& job, MPI_Comm comm) {
  if (entries_.empty()) return;
  std::vector<std::uint8_t> idle;
  for (const auto& entry : entries_) idle.push_back(entry->given_up && entry->idle());
  MPI_Request request;
  check(MPI_Iallreduce(MPI_IN_PLACE, idle.data(), static_cast<int>(idle.size()), MPI_UINT8_T, MPI_MIN, comm, &request),
        "MPI_Iallreduce");
  job.complete(request, "to agree on the release of shared memory");
  std::vector<std::shared_ptr<Entry>> kept;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (idle[i] != 0)
      entries_[i]->release();
    else
      kept.push_back(entries_[i]);
  }
  entries_ = std::move(kept);
}

bool Releases::idle() const {
  return std::all_of(entries_.begin(), entries_.end(),
                     [](const auto& entry) { return entry->given_up && entry->idle(); });
}

void Releases::release_all() {
  for (const auto& entry : entries_) entry->release();
  entries_.clear();
}

}  // namespace megaup::comm::mpi
