// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The peak of a core: chains of multiply-adds in registers, and sums of two
// arrays that no cache holds. All cores do so at once, since they share the
// memory and, on most machines, the clock. A thread's own CPU time counts, so
// that other programs on the machine change little.
#include "meshloom/Core/AvailableCores.h"
#include "meshloom/Runtime/Profiler.h"
#include "meshloom/Runtime/ThreadTime.h"

#include <algorithm>
#include <barrier>
#include <memory>
#include <thread>

namespace meshloom {
namespace {

/// Seconds of the calling thread.
double threadSeconds() {
  return double(threadNanoseconds()) * 1e-9;
}

constexpr int64_t CHAINS = 12, ROUNDS = 400'000;

// Vectors of 16, 32 and 64 bytes, in as many chains as hide an FMA's latency.
template <typename Vector>
[[gnu::always_inline]] inline float multiplyAdd(int64_t rounds) {
  Vector sums[CHAINS];
  for (int64_t c = 0; c < CHAINS; ++c)
    sums[c] = Vector{} + float(c);
  const Vector factor = Vector{} + 0.999F, term = Vector{} + 0.001F;
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int64_t c = 0; c < CHAINS; ++c)
      sums[c] = sums[c] * factor + term;
  }
  float sum = 0;
  for (const Vector &vector : sums)
    sum += vector[0];
  return sum;
}
using Vector16 = float __attribute__((vector_size(16)));
float multiplyAdd16(int64_t rounds) {
  return multiplyAdd<Vector16>(rounds);
}
#ifdef __x86_64__
using Vector32 = float __attribute__((vector_size(32)));
using Vector64 = float __attribute__((vector_size(64)));
[[gnu::target("avx2,fma")]] float multiplyAdd32(int64_t rounds) {
  return multiplyAdd<Vector32>(rounds);
}
[[gnu::target("avx512f,fma")]] float multiplyAdd64(int64_t rounds) {
  return multiplyAdd<Vector64>(rounds);
}
#endif

struct Widest {
  float (*function)(int64_t);
  int64_t lanes;
};
Widest widest() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f"))
    return {multiplyAdd64, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {multiplyAdd32, 8};
#endif
  return {multiplyAdd16, 4};
}

/// Elements of the three arrays of all threads together: 96 MB.
constexpr int64_t ELEMENTS = int64_t(3) << 23;

/// Measures all threads at the same time.
MachinePeak measure() {
  const int64_t workers = availableCores();
  std::vector<double> gflops(static_cast<size_t>(workers));
  std::vector<double> gigabytes(static_cast<size_t>(workers));
  std::barrier together(workers);
  auto work = [&](size_t worker) {
    const Widest fastest = widest();
    const int64_t count = std::max<int64_t>(1, ELEMENTS / 3 / workers);
    const auto first = std::make_unique<float[]>(size_t(count));
    const auto second = std::make_unique<float[]>(size_t(count));
    const auto sum = std::make_unique<float[]>(size_t(count));
    for (int repetition = 0; repetition < 3; ++repetition) {
      together.arrive_and_wait();
      double begin = threadSeconds();
      volatile float sink = fastest.function(ROUNDS);
      (void)sink;
      double seconds = std::max(1e-9, threadSeconds() - begin);
      const double flops = double(2 * CHAINS * fastest.lanes * ROUNDS);
      gflops[worker] = std::max(gflops[worker], flops * 1e-9 / seconds);

      together.arrive_and_wait();
      begin = threadSeconds();
      const float *from = first.get(), *other = second.get();
      float *to = sum.get();
      for (int64_t i = 0; i < count; ++i)
        to[i] = from[i] + 3 * other[i];
      asm volatile("" : : "r"(to) : "memory");
      seconds = std::max(1e-9, threadSeconds() - begin);
      gigabytes[worker] =
          std::max(gigabytes[worker], double(count) * 12 * 1e-9 / seconds);
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(size_t(workers));
  for (int64_t w = 1; w < workers; ++w)
    threads.emplace_back(work, size_t(w));
  work(0);
  for (std::thread &thread : threads)
    thread.join();
  MachinePeak peak;
  peak.workers = workers;
  for (size_t w = 0; w < size_t(workers); ++w) {
    peak.gflops += gflops[w] / double(workers);
    peak.gigabytes += gigabytes[w] / double(workers);
  }
  return peak;
}

} // namespace

const MachinePeak &machinePeak() {
  static const MachinePeak peak = measure();
  return peak;
}

} // namespace meshloom
