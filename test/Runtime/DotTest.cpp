// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of every element type, in any order in memory, alone and in batches,
// against sums in long double or of integers.
#include "../../lib/Runtime/Library/Dot.h"
#include "meshloom/Runtime/HalfFloats.h"

#include <complex>
#include <gtest/gtest.h>
#include <limits>
#include <type_traits>
#include <vector>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// A number of 16 bits.
template <typename Format> struct HalfNumber {
  HalfNumber(double value = 0) : bits(Format::narrow(float(value))) {}
  float widened() const { return Format::widen(bits); }
  bool operator==(const HalfNumber &) const = default;

  uint16_t bits;
};
template <typename T>
concept IsHalfNumber = requires(T value) { value.widened(); };
/// The case of halves whose products are f32.
template <typename Half> struct IntoF32 {};
/// The case of bytes whose products are integers of 32 bits.
template <typename Left, typename Right> struct Bytes {};

/// The types of operands and results of a case.
template <typename Case> struct TypesOf {
  using Left = Case;
  using Right = Case;
  using Result = Case;
};
template <typename Half> struct TypesOf<IntoF32<Half>> {
  using Left = Half;
  using Right = Half;
  using Result = float;
};
template <typename LeftByte, typename RightByte>
struct TypesOf<Bytes<LeftByte, RightByte>> {
  using Left = LeftByte;
  using Right = RightByte;
  using Result = int32_t;
};

template <typename T> constexpr DType dotType = DType::F64;
template <> constexpr DType dotType<HalfNumber<BF16>> = DType::BF16;
template <> constexpr DType dotType<HalfNumber<F16>> = DType::F16;
template <> constexpr DType dotType<float> = DType::F32;
template <> constexpr DType dotType<int8_t> = DType::I8;
template <> constexpr DType dotType<uint8_t> = DType::UI8;
template <> constexpr DType dotType<int32_t> = DType::I32;
template <> constexpr DType dotType<uint32_t> = DType::UI32;
template <> constexpr DType dotType<std::complex<float>> = DType::C64;
template <> constexpr DType dotType<std::complex<double>> = DType::C128;

template <typename Case>
constexpr library::DotTypes typesOfDot{dotType<typename TypesOf<Case>::Left>,
                                       dotType<typename TypesOf<Case>::Right>,
                                       dotType<typename TypesOf<Case>::Result>};

template <typename T> T dotNumberAt(int64_t i) {
  const double value = double(i * i % 1013) / 500 - 1;
  if constexpr (std::is_integral_v<T>)
    return T(int64_t(value * 2e9));
  else if constexpr (std::is_floating_point_v<T> || IsHalfNumber<T>)
    return T(value);
  else
    return T(typename T::value_type(value),
             typename T::value_type(double(i % 97) / 48 - 1));
}

/// A number in a type whose sums are more exact than those of its own. Integers
/// wrap.
template <typename T> auto widenedNumber(T value) {
  if constexpr (std::is_integral_v<T>)
    return uint32_t(value);
  else if constexpr (IsHalfNumber<T>)
    return double(value.widened());
  else if constexpr (std::is_same_v<T, float>)
    return double(value);
  else if constexpr (std::is_same_v<T, double>)
    return (long double)value;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return std::complex<double>(value);
  else
    return std::complex<long double>(value);
}
template <typename T> using Widened = decltype(widenedNumber(T()));

/// The distance from 1 to the next number.
template <typename T> constexpr long double epsilonOf() {
  if constexpr (IsHalfNumber<T>)
    return dotType<T> == DType::BF16 ? 0x1p-7L : 0x1p-10L;
  else
    return std::numeric_limits<decltype(std::real(T()))>::epsilon();
}

/// The strides of [batch, rows, columns] by the order of the last two dims,
/// with gaps where `apart`.
std::array<int64_t, 3> dotStridesOf(bool byColumns, int64_t apart, int64_t rows,
                                    int64_t columns) {
  const int64_t size = rows * columns * apart * apart;
  return byColumns ? std::array{size, apart, apart * rows}
                   : std::array{size, apart * columns, apart};
}

/// Numbers of [batch, rows, columns] with these strides, one after the other.
template <typename T>
std::vector<Widened<T>> widenedNumbers(const std::vector<T> &numbers,
                                       const std::array<int64_t, 3> &strides,
                                       int64_t batch, int64_t rows,
                                       int64_t columns) {
  std::vector<Widened<T>> widened;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        widened.push_back(widenedNumber(
            numbers[size_t(b * strides[0] + i * strides[1] + j * strides[2])]));
  return widened;
}

/// The product of dense [batch, m, k] and [batch, k, n].
template <typename Number>
std::vector<Number> productOf(const std::vector<Number> &lhs,
                              const std::vector<Number> &rhs, int64_t batch,
                              int64_t m, int64_t n, int64_t k) {
  std::vector<Number> sums(size_t(batch * m * n));
  for (int64_t row = 0; row < batch * m; ++row) {
    Number *sum = sums.data() + row * n;
    for (int64_t p = 0; p < k; ++p) {
      const Number factor = lhs[size_t(row * k + p)];
      const Number *terms = rhs.data() + (row / m * k + p) * n;
      for (int64_t j = 0; j < n; ++j)
        sum[j] += factor * terms[j];
    }
  }
  return sums;
}

/// [batch, m, k] times [batch, k, n], of which the terms are two loops where
/// `cut` divides them.
template <typename Case>
void expectDot(int64_t batch, int64_t m, int64_t n, int64_t k, int64_t cut,
               int order, bool deterministic) {
  using Left = typename TypesOf<Case>::Left;
  using Right = typename TypesOf<Case>::Right;
  using Result = typename TypesOf<Case>::Result;
  const int64_t apart = order & 8 ? 3 : 1;
  const auto lhsStrides = dotStridesOf(order & 1, apart, m, k),
             rhsStrides = dotStridesOf(order & 2, apart, k, n),
             result = dotStridesOf(order & 4, apart, m, n);
  std::vector<Left> lhs(size_t(batch * lhsStrides[0]));
  std::vector<Right> rhs(size_t(batch * rhsStrides[0]));
  std::vector<Result> out(size_t(batch * result[0]), dotNumberAt<Result>(5));
  for (size_t i = 0; i < lhs.size(); ++i)
    lhs[i] = dotNumberAt<Left>(int64_t(i) * 7 + 1);
  for (size_t i = 0; i < rhs.size(); ++i)
    rhs[i] = dotNumberAt<Right>(int64_t(i) * 5 + 2);
  DotStep step;
  step.loops = {{batch, false, {}},
                {m, false, {}},
                {n, false, {}},
                {cut, true, {}},
                {k / cut, true, {}}};
  step.lhs.dims = {{0, {{0, 1}}}, {0, {{1, 1}}}, {0, {{3, 1}}}, {0, {{4, 1}}}};
  step.rhs.dims = {{0, {{0, 1}}}, {0, {{3, 1}}}, {0, {{4, 1}}}, {0, {{2, 1}}}};
  step.out.dims = {{0, {{0, 1}}}, {0, {{1, 1}}}, {0, {{2, 1}}}};
  const std::array<int64_t, 5> extents{batch, m, n, cut, k / cut};
  const std::array<int64_t, 5> l{lhsStrides[0], lhsStrides[1], 0,
                                 lhsStrides[2] * (k / cut), lhsStrides[2]},
      r{rhsStrides[0], 0, rhsStrides[2], rhsStrides[1] * (k / cut),
        rhsStrides[1]},
      o{result[0], result[1], result[2], 0, 0};
  ASSERT_TRUE(Dot(step, typesOfDot<Case>, deterministic)
                  .run(lhs.data(), rhs.data(), out.data(), extents.data(),
                       {l.data(), r.data(), o.data()}));
  long double bound = 0;
  if constexpr (!std::is_integral_v<Result>)
    bound = 10 * (long double)(k + 1) * epsilonOf<Result>();
  const auto expected =
      productOf(widenedNumbers(lhs, lhsStrides, batch, m, k),
                widenedNumbers(rhs, rhsStrides, batch, k, n), batch, m, n, k);
  const auto values = widenedNumbers(out, result, batch, m, n);
  for (size_t e = 0; e < expected.size(); ++e) {
    long double error = 0;
    if constexpr (std::is_integral_v<Result>)
      error = values[e] != expected[e];
    else
      error = std::abs(values[e] - expected[e]);
    if (!(error <= bound))
      FAIL() << batch << " of " << m << " x " << n << " x " << k << ", order "
             << order << ", at " << e / size_t(n) << ", " << e % size_t(n)
             << ": " << values[e] << " instead of " << expected[e];
  }
}

template <typename T> class DotTest : public testing::Test {};
using DotCases =
    testing::Types<float, double, int32_t, uint32_t, std::complex<float>,
                   std::complex<double>, HalfNumber<BF16>, HalfNumber<F16>,
                   IntoF32<HalfNumber<BF16>>, IntoF32<HalfNumber<F16>>,
                   Bytes<int8_t, int8_t>, Bytes<uint8_t, int8_t>,
                   Bytes<int8_t, uint8_t>, Bytes<uint8_t, uint8_t>>;
TYPED_TEST_SUITE(DotTest, DotCases);

TYPED_TEST(DotTest, EveryOrderInMemory) {
  for (int order = 0; order < 16; ++order)
    for (bool deterministic : {false, true}) {
      expectDot<TypeParam>(1, 17, 35, 30, 1, order, deterministic);
      expectDot<TypeParam>(2, 7, 5, 12, 3, order, deterministic);
      expectDot<TypeParam>(3, 1, 19, 8, 1, order, deterministic);
      expectDot<TypeParam>(3, 19, 1, 40, 2, order, deterministic);
      expectDot<TypeParam>(2, 21, 3, 14, 1, order, deterministic);
    }
}

// Batches of small matrices, whose sides fill vectors or do not, and of
// vectors.
TYPED_TEST(DotTest, ManySmallProducts) {
  for (auto [m, n, k] : std::vector<std::array<int64_t, 3>>{{1, 1, 5},
                                                            {1, 1, 70},
                                                            {3, 3, 3},
                                                            {4, 1, 4},
                                                            {1, 4, 4},
                                                            {5, 7, 6},
                                                            {2, 9, 17},
                                                            {16, 16, 16},
                                                            {33, 1, 20},
                                                            {1, 33, 7},
                                                            {12, 20, 100},
                                                            {2, 2, 300}})
    for (int order = 0; order < 16; ++order)
      for (bool deterministic : {false, true})
        expectDot<TypeParam>(37, m, n, k, 1, order, deterministic);
}

// Vectors by matrices, whose rows or columns are contiguous.
TYPED_TEST(DotTest, VectorsByMatrices) {
  for (int order = 0; order < 16; ++order) {
    expectDot<TypeParam>(1, 1, 1100, 203, 1, order, /*deterministic=*/false);
    expectDot<TypeParam>(1, 203, 1, 1101, 1, order, /*deterministic=*/false);
  }
}

// A few rows by a large matrix whose rows are contiguous, and the transposed
// product; widths that leave columns behind vectors, more terms than are added
// at once, and as many as leave terms behind those that are.
TYPED_TEST(DotTest, FewRowsByLargeMatrices) {
  for (int64_t rows : {1, 2, 3, 4})
    for (int order : {0, 1, 5, 7, 8}) {
      expectDot<TypeParam>(1, rows, 77, 301, 1, order, false);
      expectDot<TypeParam>(1, 77, rows, 301, 1, order, false);
      expectDot<TypeParam>(2, rows, 19, 4100, 1, order, false);
    }
}

// Contractions that are summed in blocks.
TYPED_TEST(DotTest, ManyTerms) {
  for (int order : {0, 3, 5})
    for (bool deterministic : {false, true})
      expectDot<TypeParam>(1, 3, 4, 40000, 2, order, deterministic);
}

// An element's bits depend on its terms alone where that is asked for.
TYPED_TEST(DotTest, FixedBits) {
  using Left = typename TypesOf<TypeParam>::Left;
  using Right = typename TypesOf<TypeParam>::Right;
  using Result = typename TypesOf<TypeParam>::Result;
  constexpr int64_t m = 21, n = 33, k = 2100;
  std::vector<Left> lhs(m * k);
  std::vector<Right> rhs(k * n);
  for (size_t i = 0; i < lhs.size(); ++i)
    lhs[i] = dotNumberAt<Left>(int64_t(i) * 3);
  for (size_t i = 0; i < rhs.size(); ++i)
    rhs[i] = dotNumberAt<Right>(int64_t(i) * 11);
  DotStep step;
  step.loops = {{m, false, {}}, {n, false, {}}, {k, true, {}}};
  step.lhs.dims = {{0, {{0, 1}}}, {0, {{2, 1}}}};
  step.rhs.dims = {{0, {{2, 1}}}, {0, {{1, 1}}}};
  step.out.dims = {{0, {{0, 1}}}, {0, {{1, 1}}}};
  const Dot dot(step, typesOfDot<TypeParam>, /*deterministic=*/true);
  const std::array<int64_t, 3> l{k, 0, 1}, r{0, 1, n}, o{n, 1, 0};
  auto run = [&](int64_t rows, int64_t columns) {
    std::vector<Result> out(m * n);
    for (int64_t i = 0; i < m; i += rows)
      for (int64_t j = 0; j < n; j += columns) {
        const std::array<int64_t, 3> extents{std::min(rows, m - i),
                                             std::min(columns, n - j), k};
        EXPECT_TRUE(dot.run(lhs.data() + i * k, rhs.data() + j,
                            out.data() + i * n + j, extents.data(),
                            {l.data(), r.data(), o.data()}));
      }
    return out;
  };
  const auto expected = run(m, n);
  EXPECT_EQ(run(1, n), expected);
  EXPECT_EQ(run(m, 1), expected);
  EXPECT_EQ(run(5, 7), expected);
}
} // namespace
