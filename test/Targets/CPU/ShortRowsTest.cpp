// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that reduce short rows, against plain C++. Rows end where memory
// does, so that a load behind them is a fault.
#include "../../Runtime/GuardedMemory.h"
#include "KernelHarness.h"

#include <algorithm>
#include <numeric>

using namespace meshloom;

namespace {
/// Adds up rows of `length` numbers, each with a weight of its own: a number
/// that is taken for another one changes the sum. Parts are whole vectors, some
/// vectors and more, and shorter than a vector; at last there are gaps between
/// rows.
template <typename T> void expectSums(const std::string &type, int64_t length) {
  constexpr int64_t rows = 96;
  const std::string row = std::to_string(length) + "x" + type + ">",
                    matrix = "tensor<96x" + row, weight = "tensor<" + row,
                    sums = "tensor<96x" + type + ">";
  const KernelHarness kernel(
      "func.func @f(%x: " + matrix + ", %w: " + weight + ") -> " + sums +
      " { %0 = dtensor.broadcast_in_dim %w dims [1] : (" + weight + ") -> " +
      matrix + " %1 = dtensor.multiply %x, %0 : " + matrix +
      " %2 = dtensor.reduce sum %1 dims [1] : (" + matrix + ") -> " + sums +
      " return %2 : " + sums + " }");
  std::vector<T> weights(static_cast<size_t>(length));
  std::iota(weights.begin(), weights.end(), T(1));
  for (const int64_t stride : {length, length + 1}) {
    const GuardedMemory memory(size_t(rows * stride) * sizeof(T));
    T *x = memory.as<T>();
    for (int64_t i = 0; i < rows * stride; ++i)
      x[i] = T(i * 31 % 113);
    for (const KernelHarness::Part &part :
         {KernelHarness::Part{{0, 0}, {rows, length}},
          KernelHarness::Part{{30, 0}, {66, length}},
          KernelHarness::Part{{93, 0}, {3, length}}}) {
      std::vector<T> out(rows, T(-1));
      kernel.call({{x, {stride, 1}}, {weights.data(), {1}}, {out.data(), {1}}},
                  &part);
      for (int64_t i = 0; i < rows; ++i) {
        T expected = i < part.origin[0] ? T(-1) : T(0);
        for (int64_t j = 0; i >= part.origin[0] && j < length; ++j)
          expected += x[i * stride + j] * weights[size_t(j)];
        ASSERT_EQ(out[size_t(i)], expected)
            << type << ", row " << i << " of " << length;
      }
    }
  }
}

/// The columns of rows of three are picked out of all rows; longer rows are
/// transposed, in whole groups of lanes and with others behind them.
TEST(ShortRowsTest, SumsOfAllLengths) {
  for (const int64_t length : {3, 8, 9, 11}) {
    expectSums<float>("f32", length);
    expectSums<int16_t>("i16", length);
  }
  expectSums<double>("f64", 7);
}

/// The index of the smallest element is of another width than the elements.
TEST(ShortRowsTest, IndicesOfMinima) {
  const KernelHarness kernel(R"(
    func.func @f(%x: tensor<50x11xf32>) -> tensor<50xi32> {
      %0 = dtensor.argmin %x dim 1 : (tensor<50x11xf32>) -> tensor<50xi32>
      return %0 : tensor<50xi32>
    })");
  std::vector<float> x(50 * 11);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(i * 37 % 101);
  std::vector<int32_t> out(50);
  kernel.call({rowMajor(x, {50, 11}), rowMajor(out, {50})});
  for (int64_t i = 0; i < 50; ++i) {
    const auto row = x.begin() + i * 11;
    ASSERT_EQ(out[size_t(i)], std::min_element(row, row + 11) - row);
  }
}
} // namespace
