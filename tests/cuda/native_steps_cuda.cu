#include <native_steps_cuda.cuh>

#include <device_data_cuda.cuh>

namespace megaup::cuda_tests {
namespace {

class HeadCopies final : public ops::PreparedKernel {
 public:
  HeadCopies(const std::vector<ops::HeadPiece>& pieces, std::int64_t rows, std::int64_t D)
      : memory_(static_cast<std::int64_t>(pieces.size() * sizeof(ops::HeadPiece))),
        table_{static_cast<const ops::HeadPiece*>(memory_.data()), static_cast<std::int32_t>(pieces.size()),
               static_cast<std::int32_t>(D), true},
        rows_(rows) {
    check(cudaMemcpy(memory_.data(), pieces.data(), static_cast<std::size_t>(memory_.bytes()), cudaMemcpyHostToDevice),
          "table of a reorder");
  }
  void run(cudaStream_t stream) const override { ops::launch_head_copy(stream, table_, nullptr, nullptr, 0, rows_); }

 private:
  Memory memory_;
  ops::HeadTable<ops::HeadPiece> table_;
  std::int64_t rows_;
};

class SlabCopies final : public ops::PreparedKernel {
 public:
  explicit SlabCopies(std::vector<SlabCopy> copies) : copies_(std::move(copies)) {}
  void run(cudaStream_t stream) const override {
    for (const SlabCopy& copy : copies_)
      check(cudaMemcpyAsync(copy.to, copy.from, static_cast<std::size_t>(copy.bytes), cudaMemcpyDeviceToDevice, stream),
            "peer copy");
  }

 private:
  std::vector<SlabCopy> copies_;
};

class Sequence final : public ops::PreparedKernel {
 public:
  explicit Sequence(std::vector<std::shared_ptr<ops::PreparedKernel>> steps) : steps_(std::move(steps)) {}
  void run(cudaStream_t stream) const override {
    for (const auto& step : steps_) step->run(stream);
  }

 private:
  std::vector<std::shared_ptr<ops::PreparedKernel>> steps_;
};

}  // namespace

std::unique_ptr<ops::PreparedKernel> prepare_head_copy(const std::vector<ops::HeadPiece>& pieces, std::int64_t rows,
                                                       std::int64_t D) {
  return std::make_unique<HeadCopies>(pieces, rows, D);
}

std::unique_ptr<ops::PreparedKernel> prepare_slab_copies(std::vector<SlabCopy> copies) {
  return std::make_unique<SlabCopies>(std::move(copies));
}

std::unique_ptr<ops::PreparedKernel> prepare_sequence(std::vector<std::shared_ptr<ops::PreparedKernel>> steps) {
  return std::make_unique<Sequence>(std::move(steps));
}

}  // namespace megaup::cuda_tests
