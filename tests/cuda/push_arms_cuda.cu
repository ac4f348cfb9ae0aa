#include <native_steps_cuda.cuh>
#include <push_case_cuda.cuh>

#include <megaup/ops/cublaslt_cuda.cuh>

namespace megaup::cuda_tests {

namespace {

void* at(const Memory& memory, std::int64_t element) { return static_cast<std::uint16_t*>(memory.data()) + element; }

std::int64_t address(const Memory& memory, std::int64_t element) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at(memory, element)));
}

core::Bf16Matrix matrix(const Memory& memory, std::int64_t rows, std::int64_t columns) {
  return {static_cast<core::Bf16*>(memory.data()), rows, columns, columns};
}

}  // namespace

ops::DeviceGemm PushCase::gemm(ops::Raster raster, int swizzle) const {
  return {.shape = shape,
          .a = a.data(),
          .b = b.data(),
          .lda = shape.k,
          .ldb = shape.weight_transposed ? shape.k : shape.n,
          .raster = raster,
          .swizzle = swizzle,
          .sms = sms};
}

std::unique_ptr<ops::PreparedKernel> PushCase::cublaslt() const {
  const bool transposed = shape.weight_transposed;
  return ops::CublasLt().prepare({.a = matrix(a, shape.m, shape.k),
                                  .b = matrix(b, transposed ? shape.n : shape.k, transposed ? shape.k : shape.n),
                                  .c = matrix(wide, shape.m, shape.n),
                                  .weight_transposed = transposed},
                                 nullptr);
}

ops::EndBarrier PushCase::barrier() const {
  auto* words = static_cast<std::uint32_t*>(barrier_words.data());
  ops::EndBarrier out{.arrived = words,
                      .epoch = words + 1,
                      .lost = words + 2,
                      .flags = {},
                      .ranks = static_cast<int>(problem.P),
                      .rank = static_cast<int>(rank),
                      .timeout_ns = 2'000'000'000};
  for (std::int64_t peer = 0; peer < problem.P; ++peer) out.flags[peer] = words + 3 + peer * problem.P;
  return out;
}

std::unique_ptr<ops::PreparedKernel> PushCase::push(const ops::CompiledPush& kernel, ops::Raster raster,
                                                    int swizzle) const {
  return push(kernel, raster, swizzle, map(), barrier());
}

std::unique_ptr<ops::PreparedKernel> PushCase::push(const ops::CompiledPush& kernel, ops::Raster raster, int swizzle,
                                                    const ops::PushMap& map, const ops::EndBarrier& barrier) const {
  ops::PushHomes to{};
  to.rows = problem.B * problem.S();
  for (const auto kind : {core::Head::query, core::Head::key, core::Head::value})
    to.widths[static_cast<int>(kind)] = to.pitches[static_cast<int>(kind)] = heads.local_heads(kind) * problem.D;
  for (std::size_t home = 0; home < homes.size(); ++home) to.base[home] = homes[home].data();
  return kernel.push(gemm(raster, swizzle), map, to, barrier);
}

std::unique_ptr<ops::PreparedKernel> PushCase::pack() const {
  std::vector<ops::HeadPiece> pieces;
  for (std::int64_t p = 0; p < problem.P; ++p)
    for (std::int64_t i = 0; i < heads.slab_heads(); ++i)
      pieces.push_back({.from = address(wide, heads.column(heads.slab_at(p, i)) * problem.D),
                        .to = address(send, p * problem.M() * heads.slab_width() + i * problem.D),
                        .from_ld = static_cast<std::int32_t>(heads.width()),
                        .to_ld = static_cast<std::int32_t>(heads.slab_width()),
                        .from_rows = nullptr,
                        .to_rows = nullptr});
  return prepare_head_copy(pieces, problem.M(), problem.D);
}

std::unique_ptr<ops::PreparedKernel> PushCase::exchange() const {
  const std::int64_t slab = problem.M() * heads.slab_width();
  std::vector<SlabCopy> copies;
  for (std::int64_t p = 0; p < problem.P; ++p)
    if (p != rank) copies.push_back({peer_slots[static_cast<std::size_t>(p)].data(), at(send, p * slab), slab * 2});
  return prepare_slab_copies(copies);
}

std::vector<ops::HeadPiece> PushCase::unpack_pieces(std::int64_t p, std::int64_t q, const Memory& slabs,
                                                    std::int64_t slab) const {
  std::vector<ops::HeadPiece> pieces;
  for (std::int64_t i = 0; i < heads.slab_heads(); ++i) {
    const core::HeadId head = heads.slab_at(p, i);
    pieces.push_back({.from = address(slabs, slab * problem.M() * heads.slab_width() + i * problem.D),
                      .to = address(homes[static_cast<std::size_t>(p * ops::kPushKinds + static_cast<int>(head.kind))],
                                    heads.local_head(head) * problem.D),
                      .from_ld = static_cast<std::int32_t>(heads.slab_width()),
                      .to_ld = static_cast<std::int32_t>(heads.local_heads(head.kind) * problem.D),
                      .from_rows = nullptr,
                      .to_rows = static_cast<const std::int32_t*>(rows.data()) + q * problem.M()});
  }
  return pieces;
}

std::unique_ptr<ops::PreparedKernel> PushCase::unpack() const {
  std::vector<ops::HeadPiece> pieces;
  for (std::int64_t q = 0; q < problem.P; ++q)  // the own slab never leaves the send buffer
    for (const auto& piece : unpack_pieces(rank, q, q == rank ? send : receive, q)) pieces.push_back(piece);
  return prepare_head_copy(pieces, problem.M(), problem.D);
}

std::unique_ptr<ops::PreparedKernel> PushCase::unpack_at_peers() const {
  std::vector<std::shared_ptr<ops::PreparedKernel>> steps;
  for (std::int64_t p = 0; p < problem.P; ++p) {
    const auto pieces = p == rank ? unpack_pieces(p, rank, send, p)
                                  : unpack_pieces(p, rank, peer_slots[static_cast<std::size_t>(p)], 0);
    steps.push_back(prepare_head_copy(pieces, problem.M(), problem.D));
  }
  return prepare_sequence(std::move(steps));
}

std::unique_ptr<ops::PreparedKernel> PushCase::native() const {
  return prepare_sequence({cublaslt(), pack(), exchange(), unpack()});
}

std::unique_ptr<ops::PreparedKernel> PushCase::native_without_unpack() const {
  const core::TokenLayout tokens{problem};
  if (operation.columns != core::Columns::query || tokens.run_rows() < problem.M()) return nullptr;
  const std::int64_t slab = problem.M() * heads.slab_width();
  std::vector<SlabCopy> copies;
  for (std::int64_t p = 0; p < problem.P; ++p)
    copies.push_back(
        {at(homes[static_cast<std::size_t>(p * ops::kPushKinds)], tokens.destination_row(rank, 0) * heads.slab_width()),
         at(send, p * slab), slab * 2});
  return prepare_sequence({cublaslt(), pack(), prepare_slab_copies(copies)});
}

}  // namespace megaup::cuda_tests
