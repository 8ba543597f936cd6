// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of boxes: what a thread keeps from one task of a call to the
// next is not taken for another kernel's.
#include "../../lib/Runtime/Library/Convolution.h"
#include "meshloom/Runtime/Library/HostCall.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace meshloom;
using namespace meshloom::library;

namespace {

std::vector<float> sines(size_t count, double k) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(float(std::sin(double(i) * 0.7 + k)));
  return values;
}

/// lhs [2, 4, 3] dilated by 2, with a kernel [k, 3, 3]: the gradient of a
/// convolution with a stride, of which oneDNN wants the kernel backwards.
Convolution dilated(int64_t kernel, const void *call) {
  Convolution c{.batch = 2,
                .input = 3,
                .output = 3,
                .lhsBatchStep = 12,
                .lhsInputStep = 1,
                .rhsInputStep = 3,
                .rhsOutputStep = 1,
                .outBatchStep = (8 - kernel) * 3,
                .outOutputStep = 1,
                .dims = {{.in = 4,
                          .kernel = kernel,
                          .out = 8 - kernel,
                          .lhsDilation = 2,
                          .lhsStep = 3,
                          .rhsStep = 9,
                          .outStep = 3}},
                .call = call};
  return c;
}

TEST(ConvolutionTest, TasksOfOneCallMayReadOtherPartsOfAKernel) {
  const std::vector<float> lhs = sines(24, 0), rhs = sines(4 * 9, 1);
  const int call = 0;
  CallScope scope(1);
  // From one place on parts of two sizes; then one size from another place.
  for (auto [kernel, begin] :
       {std::pair<int64_t, int64_t>{3, 0}, {2, 0}, {2, 1}, {2, 2}, {3, 0}}) {
    const Convolution c = dilated(kernel, &call);
    std::vector<float> out(size_t(6 * (8 - kernel))), expected = out;
    const float *part = rhs.data() + begin * 9;
    ASSERT_TRUE(bool(convolve(c, DType::F32, lhs.data(), part, out.data())));
    convolveByLoops<float>(c, lhs.data(), part, expected.data());
    for (size_t i = 0; i < out.size(); ++i)
      EXPECT_NEAR(out[i], expected[i], 1e-5) << kernel << " " << begin;
  }
}

/// By products and by loops, of numbers that are exact in T.
template <typename T> void expectProductsAsLoops(DType type) {
  for (int64_t kernel : {1, 2, 3}) {
    Convolution c = dilated(kernel, nullptr);
    c.by = Convolution::By::Products;
    std::vector<T> lhs, rhs;
    for (int64_t i = 0; i < 24; ++i)
      lhs.push_back(T(int64_t(i * i % 23) - 11));
    for (int64_t i = 0; i < 9 * kernel; ++i)
      rhs.push_back(T(int64_t(i * 7 % 19) - 9));
    std::vector<T> out(size_t(6 * (8 - kernel)), T(1)), expected = out;
    ASSERT_TRUE(bool(convolve(c, type, lhs.data(), rhs.data(), out.data())));
    convolveByLoops<T>(c, lhs.data(), rhs.data(), expected.data());
    EXPECT_EQ(out, expected) << kernel;
  }
}

TEST(ConvolutionTest, ProductsOfEveryTypeEqualTheSumsOfLoops) {
  expectProductsAsLoops<float>(DType::F32);
  expectProductsAsLoops<double>(DType::F64);
  expectProductsAsLoops<uint32_t>(DType::I32);
  expectProductsAsLoops<uint32_t>(DType::UI32);
}

} // namespace
