#include <megaup/ops/round_store.hpp>

namespace megaup::ops {

namespace {

// One loop, compiled for several instruction sets: the compiler's vectors are as fast as memory, the baseline's are
// not. Chosen by a plain branch, because the loader's way to choose (ifunc) runs before the sanitizers are ready.
inline __attribute__((always_inline)) void round_loop(core::Bf16* to, const float* from, std::int64_t columns) {
  for (std::int64_t j = 0; j < columns; ++j) to[j] = core::Bf16::from_float(from[j]);
}

#ifdef __x86_64__
__attribute__((target("avx512f,avx512bw,avx512vl"))) void round_avx512(core::Bf16* to, const float* from,
                                                                       std::int64_t columns) {
  round_loop(to, from, columns);
}
__attribute__((target("avx2"))) void round_avx2(core::Bf16* to, const float* from, std::int64_t columns) {
  round_loop(to, from, columns);
}

auto best_loop() {
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) return round_avx512;
  if (__builtin_cpu_supports("avx2")) return round_avx2;
  return +[](core::Bf16* to, const float* from, std::int64_t columns) { round_loop(to, from, columns); };
}
#else
auto best_loop() { return round_loop; }
#endif

}  // namespace

void round_store(core::Bf16* to, const float* from, std::int64_t columns) {
  static const auto loop = best_loop();
  loop(to, from, columns);
}

}  // namespace megaup::ops
