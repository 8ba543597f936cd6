// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of f16 and bf16 are made in f32, and sums of many numbers in pairs,
// whichever op makes them.
#include "Testing.h"

#include <cmath>

namespace meshloom {
namespace {

// Neither the sum nor the count of these fits into f16, nor does bf16 count
// past 256 by ones.
TEST(AccuracyTest, MeansOfNarrowFloats) {
  for (DType type : {DType::F16, DType::BF16}) {
    EXPECT_EQ(reduce_mean(full({1000}, 100, type)).item<float>(), 100);
    Tensor ones = full({100000}, 1, type);
    EXPECT_EQ(reduce_mean(ones).item<float>(), 1);
    EXPECT_NEAR(reduce_logsumexp(ones).item<float>(), std::log(100000.) + 1,
                0.05);
    EXPECT_EQ(reduce_mean(ones).dtype(), type);
    EXPECT_NEAR(reduce_max(nn::softmax(ones)).item<float>(), 1e-5, 1e-7);
    EXPECT_NEAR(reduce_min(nn::log_softmax(ones)).item<float>(),
                -std::log(100000.), 0.05);
  }
  GradientTape tape;
  Tensor x = full({100000}, 1, DType::F16);
  tape.watch(x);
  Tensor mean = reduce_mean(x);
  EXPECT_NEAR(reduce_max(tape.gradient(mean, x)).item<float>(), 1e-5, 1e-7);
}

TEST(AccuracyTest, SumsOfNarrowFloatsCount) {
  for (DType type : {DType::F16, DType::BF16}) {
    Tensor ones = full({4096}, 1, type);
    EXPECT_EQ(reduce_sum(ones).item<float>(), 4096);
    EXPECT_EQ(reduce_max(cumsum(ones)).item<float>(), 4096);
    // Two places, one of them hit 4095 times, which neither type has.
    Tensor added = scatter_nd(where(equal(iota({4096, 1}, 0), 7),
                                    full({4096, 1}, 1, DType::I32),
                                    full({4096, 1}, 0, DType::I32)),
                              ones, {2});
    EXPECT_EQ(added.to_vector<float>(), (std::vector<float>{4096, 1}));
    EXPECT_EQ(matmul(reshape(ones, {1, 4096}), reshape(ones, {4096, 1}))
                  .item<float>(),
              4096);
  }
}

// Equal terms are rounded in the same direction again and again: one by one,
// these are off by 1e-2.
TEST(AccuracyTest, SumsOfManyTerms) {
  constexpr int64_t n = 1 << 20;
  const double exact = double(0.1f) * n;
  auto expectSum = [&](const Tensor &sum, double terms = n) {
    for (float value : sum.to_vector<float>())
      EXPECT_NEAR(value / (exact * terms / n), 1, 0x1p-24 * (512 + 20));
  };
  Tensor x = full({n}, 0.1f), ones = full({n, 3}, 1);
  expectSum(reduce_sum(x));
  expectSum(slice(cumsum(x), {n - 1}, {1}));
  expectSum(slice(cumsum(x), {n / 2 + 4}, {1}), n / 2 + 5);
  expectSum(scatter_nd(full({n, 1}, 0, DType::I32), x, {1}));
  for (bool transposed : {false, true}) {
    Tensor lhs = transposed ? reshape(x, {n, 1}) : reshape(x, {1, n});
    MatMulOptions options;
    options.transpose_a = transposed;
    expectSum(matmul(lhs, ones, options));
    expectSum(matmul(lhs, full({n, 1}, 1), options));
  }
}

} // namespace
} // namespace meshloom
