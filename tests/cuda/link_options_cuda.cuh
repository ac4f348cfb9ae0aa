#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <megaup/ops/operation.hpp>

#include <benchmark_cuda.cuh>

namespace megaup::cuda_tests {

/// How the launches of variants follow each other; link_benchmark_cuda.cu describes them.
struct Duty {
  std::string_view name;
  double rest;           ///< how long the devices rest before each launch, in times of the bare GEMM
  bool blocked = false;  ///< each variant alone
};

/// What megaup_cuda_link_benchmark is asked for.
struct LinkOptions {
  std::vector<Model> models;
  std::vector<const ops::Operation*> operations;
  std::vector<Duty> duties;
  std::vector<std::int64_t> M;
  int ranks = 2, seconds = 300;
};

/// The words of the command line; what they do not name is filled in. Throws Error{usage} with the word that says
/// nothing.
LinkOptions link_options(std::span<char* const> words);

}  // namespace megaup::cuda_tests
