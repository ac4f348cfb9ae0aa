#include <pull_native_cuda.cuh>

namespace megaup::cuda_tests {

namespace {

std::int64_t address(const Memory& memory, std::int64_t element) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(memory.data())) + element * 2;
}
void* at(const Memory& memory, std::int64_t byte) { return static_cast<char*>(memory.data()) + byte; }

std::vector<ops::HeadPiece> pack_pieces(const PullCase& c, const Memory& send, const Memory& receive,
                                        const Memory& rows) {
  const core::HeadLayout& heads = c.world.heads;
  const std::int64_t M = c.shape.m, D = heads.p.D, slab = heads.slab_width();
  std::vector<ops::HeadPiece> pieces;
  for (std::int64_t q = 0; q < heads.p.P; ++q)
    for (std::int64_t i = 0; i < heads.slab_heads(); ++i) {
      const core::HeadId head = heads.slab_at(c.rank, i);
      const std::size_t home = static_cast<std::size_t>(c.rank * ops::kPullKinds + static_cast<int>(head.kind));
      pieces.push_back({.from = address(c.world.tensors[home], heads.local_head(head) * D),
                        .to = address(q == c.rank ? receive : send, q * M * slab + i * D),
                        .from_ld = static_cast<std::int32_t>(heads.local_heads(head.kind) * D),
                        .to_ld = static_cast<std::int32_t>(slab),
                        .from_rows = static_cast<const std::int32_t*>(rows.data()) + q * M,
                        .to_rows = nullptr});
    }
  return pieces;
}

std::vector<ops::HeadPiece> unpack_pieces(const PullCase& c, const Memory& receive) {
  const core::HeadLayout& heads = c.world.heads;
  const std::int64_t M = c.shape.m, D = heads.p.D, slab = heads.slab_width();
  std::vector<ops::HeadPiece> pieces;
  for (std::int64_t p = 0; p < heads.p.P; ++p)
    for (std::int64_t i = 0; i < heads.slab_heads(); ++i) {
      const core::HeadId head = heads.slab_at(p, i);
      if (heads.copies(head.kind) > 1) continue;
      pieces.push_back({.from = address(receive, p * M * slab + i * D),
                        .to = address(c.wide, heads.column(head) * D),
                        .from_ld = static_cast<std::int32_t>(slab),
                        .to_ld = static_cast<std::int32_t>(c.shape.k),
                        .from_rows = nullptr,
                        .to_rows = nullptr});
    }
  return pieces;
}

/// Replicated heads are the last two of every slab.
std::vector<ops::HeadSum> sum_pieces(const PullCase& c, const Memory& receive) {
  const core::HeadLayout& heads = c.world.heads;
  const std::int64_t M = c.shape.m, D = heads.p.D, slab = heads.slab_width();
  std::vector<ops::HeadSum> pieces;
  if (heads.copies(core::Head::key) == 1) return pieces;
  for (std::int64_t k = 0; k < heads.p.Hk; ++k)
    for (const core::Head kind : {core::Head::key, core::Head::value}) {
      const std::int64_t i = heads.slab_heads() - (kind == core::Head::key ? 2 : 1);
      pieces.push_back({.from = address(receive, heads.first_rank({kind, k}) * M * slab + i * D),
                        .copy_stride = M * slab * 2,
                        .to = address(c.wide, heads.column({kind, k}) * D),
                        .from_ld = static_cast<std::int32_t>(slab),
                        .to_ld = static_cast<std::int32_t>(c.shape.k),
                        .copies = static_cast<std::int32_t>(heads.copies(kind)),
                        .unused = 0});
    }
  return pieces;
}

class HeadSums final : public ops::PreparedKernel {
 public:
  HeadSums(const std::vector<ops::HeadSum>& pieces, std::int64_t rows, std::int64_t D)
      : memory_(static_cast<std::int64_t>(pieces.size() * sizeof(ops::HeadSum))),
        table_{static_cast<const ops::HeadSum*>(memory_.data()), static_cast<std::int32_t>(pieces.size()),
               static_cast<std::int32_t>(D), true},
        rows_(rows) {
    check(cudaMemcpy(memory_.data(), pieces.data(), static_cast<std::size_t>(memory_.bytes()), cudaMemcpyHostToDevice),
          "table of sums");
  }
  void run(cudaStream_t stream) const override { ops::launch_head_sum(stream, table_, nullptr, nullptr, rows_); }

 private:
  Memory memory_;
  ops::HeadTable<ops::HeadSum> table_;
  std::int64_t rows_;
};

}  // namespace

PullNative::PullNative(const PullCase& c)
    : case_(c),
      slab_bytes_(c.shape.m * c.world.heads.slab_width() * 2),
      send_(c.world.problem.P * slab_bytes_),
      receive_(send_.bytes()),
      peers_send_(send_.bytes(), c.world.elsewhere),
      rows_(c.world.problem.P * c.shape.m * 4) {
  const core::Problem& p = c.world.problem;
  const core::TokenLayout tokens{p};
  std::vector<std::int32_t> rows;
  for (std::int64_t q = 0; q < p.P; ++q)
    for (std::int64_t m = 0; m < p.M(); ++m) rows.push_back(static_cast<std::int32_t>(tokens.destination_row(q, m)));
  check(cudaMemcpy(rows_.data(), rows.data(), rows.size() * 4, cudaMemcpyHostToDevice), "row table");
  fill_uniform(peers_send_, 21, 1.0f);  // all of it: a GEMM over zeros is several per cent faster
  pack_ = prepare_head_copy(pack_pieces(c, send_, receive_, rows_), p.M(), p.D);
  unpack_ = prepare_head_copy(unpack_pieces(c, receive_), p.M(), p.D);
  if (const auto sums = sum_pieces(c, receive_); !sums.empty()) sums_ = std::make_shared<HeadSums>(sums, p.M(), p.D);
  std::vector<SlabCopy> copies;
  for (std::int64_t q = 0; q < p.P; ++q)
    if (q != c.rank) copies.push_back({at(receive_, q * slab_bytes_), at(peers_send_, q * slab_bytes_), slab_bytes_});
  copies_ = prepare_slab_copies(std::move(copies));
}

std::shared_ptr<ops::PreparedKernel> PullNative::with(std::shared_ptr<ops::PreparedKernel> gemm) const {
  std::vector<std::shared_ptr<ops::PreparedKernel>> steps{pack_, copies_, unpack_};
  if (sums_) steps.push_back(sums_);
  steps.push_back(std::move(gemm));
  return prepare_sequence(std::move(steps));
}

std::shared_ptr<ops::PreparedKernel> PullNative::without_pack(std::shared_ptr<ops::PreparedKernel> gemm) const {
  const core::Problem& p = case_.world.problem;
  const core::TokenLayout tokens{p};
  if (case_.world.operation.columns != core::Columns::query || tokens.run_rows() < p.M()) return nullptr;
  std::vector<SlabCopy> copies;
  for (std::int64_t q = 0; q < p.P; ++q)
    copies.push_back({at(receive_, q * slab_bytes_),
                      at(case_.world.tensors[static_cast<std::size_t>(q * ops::kPullKinds)],
                         tokens.destination_row(case_.rank, 0) * case_.world.heads.slab_width() * 2),
                      slab_bytes_});
  return prepare_sequence({prepare_slab_copies(std::move(copies)), unpack_, std::move(gemm)});
}

}  // namespace megaup::cuda_tests
