#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <megaup/experiments/plan.hpp>
#include <megaup/experiments/run.hpp>

/// What `run` and `resume` share.
namespace megaup::cli {

/// Names of operations and arms that exist in this program, for the spec parser.
class KnownTables {
 public:
  KnownTables();
  experiments::KnownNames names() const {
    return {operations_, host_.arms, host_.bounds, cuda_.arms, cuda_.bounds, no_cuda_arms_, push_.names(), pull_.names()};
  }

 private:
  struct Names {
    std::vector<std::string_view> arms, bounds;
  };
  struct Kernels {
    std::vector<std::string_view> kernels, orders;
    experiments::KernelNames names() const { return {kernels, orders}; }
  };
  std::vector<std::string_view> operations_;
  Names host_, cuda_;
  Kernels push_, pull_;
  std::string no_cuda_arms_;
};

struct MeasureRequest {
  std::string spec;              ///< path or shipped name; for resume the kept spec's name
  std::filesystem::path output;
  bool overwrite = false, resume = false;
  std::string yaml;              ///< resume: the spec's bytes; empty: load `spec`
};

/// For specs with device: cuda. Sets variables that CUDA and NCCL read when they start, unless they are set: so before any
/// other thread exists. Nothing to do for others.
void prepare_devices(const experiments::Spec& spec);
/// Memory of the smallest device that the spec may get, 0 where there is none.
std::int64_t device_bytes(const experiments::Spec& spec);

/// Plans, measures, writes, prints the table. Returns the exit status.
int measure(const MeasureRequest& request);

}  // namespace megaup::cli
