#include <megaup/comm/mpi/detail/shared_window.hpp>

#include <cstring>

#include <fmt/format.h>

#include <megaup/comm/mpi/detail/call.hpp>

namespace megaup::comm::mpi {
namespace {

constexpr std::size_t kPage = 4096;
std::size_t whole_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

MPI_Win allocate(MPI_Comm comm, std::size_t bytes, std::byte*& mine) {
  MPI_Info info;
  check(MPI_Info_create(&info), "MPI_Info_create");
  check(MPI_Info_set(info, "alloc_shared_noncontig", "true"), "MPI_Info_set");  // each part may lie near its rank
  MPI_Win window = MPI_WIN_NULL;
  const int code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, info, comm, &mine, &window);
  check(MPI_Info_free(&info), "MPI_Info_free");
  try {
    check(code, "MPI_Win_allocate_shared");
  } catch (const core::Error& error) {
    throw core::Error(core::ErrorKind::environment,
                      fmt::format("{}; {} bytes of shared memory a rank were wanted: make /dev/shm larger (containers: "
                                  "--shm-size) or choose fewer "
                                  "tokens_per_rank",
                                  error.what(), bytes));
  }
  // Loads and stores are synchronised by the flags' atomics; one epoch for the whole life says so to MPI.
  check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
  return window;
}

}  // namespace

PeerMap share_window(Job& job, Group& group, int rank, std::size_t bytes, std::size_t flags) {
  const std::size_t P = group.launch_ranks.size(), flag_bytes = whole_pages(flags * kFlagStride);
  std::byte* mine = nullptr;
  const MPI_Win window = allocate(group.comm, flag_bytes + whole_pages(bytes) + kPage, mine);
  const auto entry = group.releases.add([owned = window]() mutable {
    check(MPI_Win_unlock_all(owned), "MPI_Win_unlock_all");
    check(MPI_Win_free(&owned), "MPI_Win_free");
  });

  // A window promises no page boundary. Each rank finds its own and tells it, because others may have the window at
  // other addresses.
  const std::size_t shift =
      whole_pages(reinterpret_cast<std::uintptr_t>(mine)) - reinterpret_cast<std::uintptr_t>(mine);
  std::memset(mine, 0, flag_bytes + whole_pages(bytes) + kPage);
  std::vector<std::uint64_t> shifts(P);
  const std::uint64_t my_shift = shift;
  MPI_Request request;
  check(MPI_Iallgather(&my_shift, 1, MPI_UINT64_T, shifts.data(), 1, MPI_UINT64_T, group.comm, &request),
        "MPI_Iallgather");
  job.complete(request, "its peers to touch their shared memory");

  PeerMap map;
  for (std::size_t r = 0; r < P; ++r) {
    MPI_Aint size = 0;
    int unit = 1;
    std::byte* base = mine;
    if (r != static_cast<std::size_t>(rank))
      check(MPI_Win_shared_query(window, static_cast<int>(r), &size, &unit, &base), "MPI_Win_shared_query");
    map.flags.push_back(base + shifts[r]);
    map.data.push_back(base + shifts[r] + flag_bytes);
  }
  map.owner = std::shared_ptr<void>(nullptr, [entry](void*) { entry->given_up = true; });
  return map;
}

}  // namespace megaup::comm::mpi
