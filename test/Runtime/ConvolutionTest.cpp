// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of boxes: what a thread keeps from one task of a call to the
// next is not taken for another kernel's.
#include "../../lib/Runtime/Library/Convolution.h"
#include "meshloom/Runtime/Library/HostCall.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

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

// Groups of one result are lanes, whatever they sum: the gradient of a
// depthwise convolution's kernel.
TEST(ConvolutionTest, GroupsOfOneResultEqualThoseOneByOne) {
  Convolution c{.groups = 5,
                .input = 3,
                .groupStep = {1, 1, 1},
                .lhsInputStep = 9 * 5,
                .rhsInputStep = 7 * 5,
                .dims = {{.in = 9,
                          .kernel = 7,
                          .out = 3,
                          .lhsStep = 5,
                          .rhsStep = 5,
                          .outStep = 5}}};
  std::vector<double> lhs(3 * 9 * 5), rhs(3 * 7 * 5), out(15), expected(15);
  for (size_t i = 0; i < lhs.size(); ++i)
    lhs[i] = double(int64_t(i * i % 23) - 11);
  for (size_t i = 0; i < rhs.size(); ++i)
    rhs[i] = double(int64_t(i * 7 % 19) - 9);
  convolveByLoops<double>(c, lhs.data(), rhs.data(), out.data());
  c.groups = 1;
  for (int64_t g = 0; g < 5; ++g)
    convolveByLoops<double>(c, &lhs[size_t(g)], &rhs[size_t(g)],
                            &expected[size_t(g)]);
  EXPECT_EQ(out, expected);
}

/// Returns a convolution of one feature with one feature: of signals, or of
/// images where `rows` > 1, with
/// two groups and a batch of 2; windows begin `low` elements before.
Convolution signal(int64_t rows, int64_t in, int64_t kernel, int64_t low,
                   int64_t dilation, bool reversed) {
  const int64_t out = in + low + 3 - (kernel - 1) * dilation;
  const int64_t kernelRows = std::min<int64_t>(rows, 2);
  Convolution c{
      .groups = 2,
      .batch = 2,
      .groupStep = {2 * rows * in, kernelRows * kernel, 2 * rows * out},
      .lhsBatchStep = rows * in,
      .rhsInputStep = 1,
      .rhsOutputStep = 1,
      .outBatchStep = rows * out};
  if (rows > 1)
    c.dims.push_back({.in = rows,
                      .kernel = kernelRows,
                      .out = rows,
                      .low = 1,
                      .reversed = reversed,
                      .lhsStep = in,
                      .rhsStep = kernel,
                      .outStep = out});
  c.dims.push_back({.in = in,
                    .kernel = kernel,
                    .out = out,
                    .low = low,
                    .rhsDilation = dilation,
                    .reversed = reversed,
                    .lhsStep = 1,
                    .rhsStep = 1,
                    .outStep = 1});
  return c;
}

template <typename T> void expectSignalsAsLoops(DType type) {
  for (int64_t rows : {1, 4})
    for (auto [in, kernel, low, dilation] :
         std::vector<std::array<int64_t, 4>>{{200, 5, 2, 1},
                                             {131, 7, 0, 3},
                                             {40, 9, 8, 1},
                                             {3, 9, 8, 1},
                                             {90, 1, 0, 1},
                                             {700, 600, 250, 1},
                                             {70, 4, 5, 1}})
      for (bool reversed : {false, true}) {
        const Convolution c = signal(rows, in, kernel, low, dilation, reversed);
        std::vector<T> lhs, rhs;
        for (int64_t i = 0; i < 4 * rows * in; ++i)
          lhs.push_back(T(int64_t(i * i % 23) - 11));
        for (int64_t i = 0; i < 4 * kernel; ++i)
          rhs.push_back(T(int64_t(i * 7 % 19) - 9));
        std::vector<T> out(size_t(4 * rows * c.dims.back().out), T(1)),
            expected = out;
        ASSERT_TRUE(convolveSignals<T>(c, lhs.data(), rhs.data(), out.data()));
        convolveByLoops<T>(c, lhs.data(), rhs.data(), expected.data());
        EXPECT_EQ(out, expected) << in << " by " << kernel;
        ASSERT_TRUE(
            bool(convolve(c, type, lhs.data(), rhs.data(), out.data())));
        EXPECT_EQ(out, expected) << in << " by " << kernel;
      }
}

TEST(ConvolutionTest, SignalsOfEveryTypeEqualTheSumsOfLoops) {
  expectSignalsAsLoops<float>(DType::F32);
  expectSignalsAsLoops<double>(DType::F64);
  expectSignalsAsLoops<uint32_t>(DType::I32);
  expectSignalsAsLoops<uint64_t>(DType::I64);
}

// Numbers of the kernel that meet no element have no effect, whatever they are.
TEST(ConvolutionTest, InfinitiesBesideASignalHaveNoEffect) {
  const Convolution c = signal(1, 40, 3, 1, 1, /*reversed=*/false);
  std::vector<double> lhs(160, 1), rhs(6, 1), out(size_t(4 * c.dims[0].out));
  rhs[0] = std::numeric_limits<double>::infinity();
  ASSERT_TRUE(
      bool(convolve(c, DType::F64, lhs.data(), rhs.data(), out.data())));
  EXPECT_EQ(out[0], 2);
  EXPECT_EQ(out[1], rhs[0]);
}

} // namespace
