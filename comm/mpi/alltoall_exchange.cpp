#include <megaup/comm/mpi/alltoall_exchange.hpp>

#include <climits>
#include <vector>

#include <fmt/format.h>

#include <megaup/comm/mpi/detail/alltoall_exchange.hpp>
#include <megaup/comm/mpi/detail/call.hpp>
#include <megaup/comm/mpi/detail/mpi_communicator.hpp>
#include <megaup/core/buffer.hpp>

namespace megaup::comm::mpi {
namespace {

class AlltoallExchange final : public Exchange {
 public:
  AlltoallExchange(Job& job, const Group& group, const ExchangeShape& shape)
      : Exchange(shape),
        job_(job),
        comm_(group.comm),
        P_(group.launch_ranks.size()),
        block_(make_block(shape.bytes_per_peer, INT_MAX)),
        slots_(static_cast<std::size_t>(shape.slots)) {
    for (Slot& slot : slots_) slot = {core::Buffer(P_ * shape.bytes_per_peer), core::Buffer(P_ * shape.bytes_per_peer)};
  }

  ~AlltoallExchange() override {
    bool abandoned = false;
    for (int slot = 0; slot < shape().slots; ++slot) abandoned = abandoned || in_flight(slot);
    if (abandoned) {
      // MPI may still write to these buffers until the process ends, and a started collective cannot be taken back.
      new std::vector<Slot>(std::move(slots_));
      return;
    }
    if (block_.type != MPI_BYTE) MPI_Type_free(&block_.type);
  }

 private:
  struct Slot {
    core::Buffer send, recv;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  std::byte* do_send(int slot) const override { return at(slot).send.bytes().data(); }
  const std::byte* do_recv(int slot) const override { return at(slot).recv.bytes().data(); }
  void do_start(int slot) override {
    throw_if_aborted(job_.rules());
    Slot& s = slots_[static_cast<std::size_t>(slot)];
    check(MPI_Ialltoall(s.send.bytes().data(), block_.count, block_.type, s.recv.bytes().data(), block_.count,
                        block_.type, comm_, &s.request),
          "MPI_Ialltoall");
  }
  void do_finish(int slot) override {
    throw_if_aborted(job_.rules());
    job_.complete(slots_[static_cast<std::size_t>(slot)].request,
                  "its peers in an exchange (MPI_Ialltoall does not say which)");
  }
  const Slot& at(int slot) const { return slots_[static_cast<std::size_t>(slot)]; }

  Job& job_;
  MPI_Comm comm_;
  std::size_t P_;
  Block block_;
  std::vector<Slot> slots_;
};

}  // namespace

Block make_block(std::size_t bytes, std::size_t largest) {
  if (bytes <= largest) return {MPI_BYTE, static_cast<int>(bytes)};
  const std::size_t pieces = bytes / largest, rest = bytes % largest;
  if (pieces > INT_MAX)
    throw core::Error(core::ErrorKind::cell,
                      fmt::format("exchange: {} bytes per peer are more than MPI can count", bytes));
  MPI_Datatype piece, whole;
  check(MPI_Type_contiguous(static_cast<int>(largest), MPI_BYTE, &piece), "MPI_Type_contiguous");
  const int counts[] = {static_cast<int>(pieces), static_cast<int>(rest)};
  const MPI_Aint offsets[] = {0, static_cast<MPI_Aint>(pieces * largest)};
  const MPI_Datatype types[] = {piece, MPI_BYTE};
  check(MPI_Type_create_struct(2, counts, offsets, types, &whole), "MPI_Type_create_struct");
  check(MPI_Type_commit(&whole), "MPI_Type_commit");
  check(MPI_Type_free(&piece), "MPI_Type_free");
  return {whole, 1};
}

std::unique_ptr<Exchange> alltoall_exchange(Job& job, const Group& group, const ExchangeShape& shape) {
  return std::make_unique<AlltoallExchange>(job, group, shape);
}

std::unique_ptr<Exchange> alltoall_exchange(Communicator& group, const ExchangeShape& shape) {
  auto* own = dynamic_cast<MpiCommunicator*>(&group);
  if (own == nullptr)
    throw core::Error(core::ErrorKind::cell,
                      fmt::format("MPI_Ialltoall: the communicator is {}, not mpi", group.backend()), group.rank());
  return own->alltoall(shape);
}

}  // namespace megaup::comm::mpi
