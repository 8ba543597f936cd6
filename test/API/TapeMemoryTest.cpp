// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory that a tape of many ops takes.
#include "Testing.h"

#include <sys/resource.h>

namespace meshloom {
namespace {

/// Megabytes that this process has had at most.
double peakMemory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) / 1024;
}

// Memory does not grow with the square of the number of ops: 4,000 took over
// 1 GB.
TEST(TapeTest, ManyOpsTakeLittleMemory) {
  auto gradientOf = [](int count) {
    DVariable w(full({2}, 1.0, DType::F64));
    GradientTape tape;
    Tensor y = ones({2}, DType::F64);
    for (int i = 0; i < count; ++i)
      y = y * w;
    expectNear(tape.gradient(y, w), {double(count), double(count)});
    return peakMemory();
  };
  double few = gradientOf(100);
  EXPECT_LT(gradientOf(4000), few + 500);
}

} // namespace
} // namespace meshloom
