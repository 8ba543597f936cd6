// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products by panels, by the code of every kind of processor that this one
// runs, against sums in long double or of integers.
#include "../../lib/Runtime/Library/PanelProduct.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <type_traits>
#include <vector>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// Numbers that are no multiples of each other; integers wrap in products.
template <typename T>
std::vector<T> numbers(int64_t count, double step, double most = 1e9) {
  std::vector<T> values;
  for (int64_t i = 0; i < count; ++i) {
    const double value = std::sin(double(i) * step);
    if constexpr (std::is_integral_v<T>)
      values.push_back(T(int64_t(std::floor(value * most))));
    else
      values.push_back(T(value));
  }
  return values;
}

/// How a [rows, columns] matrix lies in memory.
enum class Order : uint8_t { Rows, Columns, Apart };
MatrixStrides stridesOf(Order order, int64_t rows, int64_t columns) {
  switch (order) {
  case Order::Rows:
    return {columns, 1};
  case Order::Columns:
    return {1, rows};
  case Order::Apart:
    return {3 * columns, 3};
  }
  return {};
}

template <typename T>
void expectProduct(int64_t m, int64_t n, int64_t k, Order lhs, Order rhs,
                   bool accumulate, size_t kind, double most = 1e9) {
  using Wide = std::conditional_t<std::is_integral_v<T>, T, long double>;
  const MatrixStrides lhsStrides = stridesOf(lhs, m, k),
                      rhsStrides = stridesOf(rhs, k, n);
  const auto a = numbers<T>(3 * m * k, 0.7, most),
             b = numbers<T>(3 * k * n, 0.3, most);
  const int64_t outStride = n + 5;
  const auto before = numbers<T>(m * outStride, 1.1);
  std::vector<T> out = before;
  panelProduct(m, n, k, a.data(), lhsStrides, b.data(), rhsStrides, accumulate,
               out.data(), outStride, kind);
  for (int64_t r = 0; r < m; ++r)
    for (int64_t c = 0; c < outStride; ++c) {
      const auto index = size_t(r * outStride + c);
      Wide sum = accumulate || c >= n ? Wide(before[index]) : Wide(0);
      for (int64_t i = 0; c < n && i < k; ++i)
        sum += Wide(a[size_t(r * lhsStrides.rowStride +
                             i * lhsStrides.columnStride)]) *
               Wide(b[size_t(i * rhsStrides.rowStride +
                             c * rhsStrides.columnStride)]);
      const double bound =
          std::is_integral_v<T>
              ? 0
              : 10 * double(std::numeric_limits<T>::epsilon()) * double(k + 1);
      ASSERT_NEAR(double(out[index]), double(sum), bound)
          << m << " x " << n << " x " << k << ", kind " << kind << ", at " << r
          << ", " << c;
    }
}

template <typename T> class PanelProductTest : public testing::Test {};
using PanelTypes = testing::Types<float, double, uint32_t>;
TYPED_TEST_SUITE(PanelProductTest, PanelTypes);

// Extents around tiles, panels and blocks, in all orders; nothing is written
// beside the result.
TYPED_TEST(PanelProductTest, EveryKindOfCodeInEveryOrder) {
  for (size_t kind = 0; kind < panelKinds(); ++kind)
    for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                           {1, 70, 3},
                           {13, 31, 17},
                           {15, 33, 64},
                           {29, 5, 257},
                           {6, 100, 600},
                           {190, 40, 33}})
      for (Order lhs : {Order::Rows, Order::Columns, Order::Apart})
        for (Order rhs : {Order::Rows, Order::Columns, Order::Apart})
          expectProduct<TypeParam>(m, n, k, lhs, rhs, m % 2 == 0, kind);
}

// More rows and columns than are copied at once.
TYPED_TEST(PanelProductTest, BlocksOfRowsAndColumns) {
  for (size_t kind = 0; kind < panelKinds(); ++kind)
    expectProduct<TypeParam>(1010, 300, 20, Order::Rows, Order::Rows, true,
                             kind);
}

// Integers that fit into 16 bits, the smallest ones among them, also where
// there is an odd number of terms; one number more makes them too large.
TEST(PanelProductOfShortIntegersTest, EveryKindOfCode) {
  for (size_t kind = 0; kind < panelKinds(); ++kind)
    for (auto [m, n, k] : {std::array<int64_t, 3>{8, 8, 2},
                           {13, 31, 17},
                           {29, 40, 257},
                           {190, 40, 600}})
      for (Order order : {Order::Rows, Order::Columns, Order::Apart})
        for (double most : {127.0, 32768.0, 32769.5})
          expectProduct<uint32_t>(m, n, k, order, order, m % 2 == 0, kind,
                                  most);
}

// No terms: zeros, or what was there.
TYPED_TEST(PanelProductTest, NoTerms) {
  expectProduct<TypeParam>(3, 4, 0, Order::Rows, Order::Rows, false, 0);
  expectProduct<TypeParam>(3, 4, 0, Order::Rows, Order::Rows, true, 0);
}
} // namespace
