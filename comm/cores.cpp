#include <megaup/comm/cores.hpp>

#include <pthread.h>
#include <sched.h>

#include <memory>
#include <system_error>

#include <fmt/format.h>

#include <megaup/core/error.hpp>

namespace megaup::comm {
namespace {

constexpr int kMostCores = 1 << 14;  // a fixed cpu_set_t ends at 1024, and larger machines exist

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, FreeCpuSet>;

CpuSet empty_set() {
  CpuSet set(CPU_ALLOC(kMostCores));
  if (!set) throw std::bad_alloc();
  CPU_ZERO_S(CPU_ALLOC_SIZE(kMostCores), set.get());
  return set;
}

}  // namespace

std::vector<int> allowed_cores() {
  const CpuSet set = empty_set();
  const std::size_t bytes = CPU_ALLOC_SIZE(kMostCores);
  if (sched_getaffinity(0, bytes, set.get()) != 0)
    throw core::Error(core::ErrorKind::environment,
                      fmt::format("cannot read the cores of this process: {}", std::generic_category().message(errno)));
  std::vector<int> cores;
  for (int core = 0; core < kMostCores; ++core)
    if (CPU_ISSET_S(core, bytes, set.get())) cores.push_back(core);
  return cores;
}

void pin_to_core(int core) {
  const CpuSet set = empty_set();
  const std::size_t bytes = CPU_ALLOC_SIZE(kMostCores);
  CPU_SET_S(core, bytes, set.get());
  if (const int error = pthread_setaffinity_np(pthread_self(), bytes, set.get()); error != 0)
    throw core::Error(core::ErrorKind::environment,
                      fmt::format("cannot keep a rank on core {}: {}", core, std::generic_category().message(error)));
}

}  // namespace megaup::comm
