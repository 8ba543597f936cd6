// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fourier transforms of lines of many lengths against sums in long double.
#include "../../lib/Runtime/Library/FourierPlan.h"

#include <cmath>
#include <complex>
#include <gtest/gtest.h>
#include <limits>
#include <numbers>
#include <type_traits>
#include <vector>

using namespace meshloom;
using namespace meshloom::library;

namespace {
using WideComplex = std::complex<long double>;

/// A number of this kind for every element: no two lines are alike.
double lineNumberAt(int64_t element, int64_t line, int part) {
  return std::sin(double(element) * 0.7 + double(line) * 1.3 + part * 2.1 +
                  double(element * element % 101));
}

/// Lines in memory, of real or complex numbers: side by side, element by
/// element, or with gaps.
enum class LinesOrder : uint8_t { Dense, Strided, Apart };
ElementStrides lineStridesOf(LinesOrder order, int64_t count, int64_t lines) {
  switch (order) {
  case LinesOrder::Dense:
    return {1, count};
  case LinesOrder::Strided:
    return {lines, 1};
  case LinesOrder::Apart:
    return {3, 3 * count + 1};
  }
  return {};
}

template <typename Real> struct LinesSide {
  bool isReal;
  int64_t count, lines;
  ElementStrides strides;
  std::vector<Real> memory;

  LinesSide(bool isReal, int64_t count, int64_t lines, LinesOrder order)
      : isReal(isReal), count(count), lines(lines),
        strides(lineStridesOf(order, count, lines)),
        memory(size_t((count * strides.element + lines * strides.line + 1) *
                      (isReal ? 1 : 2))) {}
  Real &part(int64_t element, int64_t line, int which) {
    const int64_t offset = element * strides.element + line * strides.line;
    return memory[size_t(isReal ? offset : 2 * offset + which)];
  }
  WideComplex get(int64_t element, int64_t line) {
    return isReal ? WideComplex(part(element, line, 0))
                  : WideComplex(part(element, line, 0), part(element, line, 1));
  }
};

bool isInverseKind(FourierKind kind) {
  return kind == FourierKind::Inverse || kind == FourierKind::ToReal;
}

/// The complex line that a transform of `kind` is of.
template <typename Real>
std::vector<WideComplex> lineOf(FourierKind kind, int64_t length,
                                LinesSide<Real> &from, int64_t line) {
  std::vector<WideComplex> values;
  for (int64_t j = 0; j < length; ++j) {
    const bool isMirrored = j >= from.count;
    WideComplex value = from.get(isMirrored ? length - j : j, line);
    if (kind == FourierKind::ToReal && (j == 0 || 2 * j == length))
      value = value.real();
    values.push_back(isMirrored ? std::conj(value) : value);
  }
  return values;
}

template <typename Real>
void expectTransform(FourierKind kind, int64_t length, int64_t lines,
                     LinesOrder fromOrder, LinesOrder toOrder,
                     int64_t results) {
  const bool isFromReal = kind == FourierKind::FromReal,
             isToReal = kind == FourierKind::ToReal;
  LinesSide<Real> from(isFromReal, isToReal ? length / 2 + 1 : length, lines,
                       fromOrder),
      to(isToReal, isFromReal ? length / 2 + 1 : length, lines, toOrder);
  for (int64_t l = 0; l < lines; ++l)
    for (int64_t i = 0; i < from.count; ++i)
      for (int part = 0; part < (isFromReal ? 1 : 2); ++part)
        from.part(i, l, part) = Real(lineNumberAt(i, l, part));
  const auto before = to.memory;
  FourierPlan<Real>::get(kind, length)
      ->run(from.memory.data(), from.strides, to.memory.data(), to.strides,
            lines);

  std::vector<WideComplex> roots;
  for (int64_t i = 0; i < length; ++i)
    roots.push_back(std::polar(
        1.0L, (isInverseKind(kind) ? 2 : -2) * std::numbers::pi_v<long double> *
                  (long double)(i) / (long double)(length)));
  // Sums take long: some results of some lines.
  const int64_t step = std::max<int64_t>(1, length / results);
  long double error = 0, size = 0;
  for (int64_t l : {int64_t(0), lines / 2, lines - 1}) {
    const std::vector<WideComplex> line = lineOf(kind, length, from, l);
    // The mean square of the line's results, by Parseval.
    long double mean = 0;
    for (const WideComplex &value : line)
      mean += std::norm(value);
    if (isInverseKind(kind))
      mean /= (long double)(length) * (long double)(length);
    for (int64_t k = 0; k < to.count; k += step) {
      WideComplex sum = 0;
      for (int64_t j = 0; j < length; ++j)
        sum += line[size_t(j)] * roots[size_t(j * k % length)];
      if (isInverseKind(kind))
        sum /= (long double)(length);
      error += std::norm(to.get(k, l) - sum);
      size += mean;
    }
  }
  const auto bound = (long double)(std::numeric_limits<Real>::epsilon()) *
                     (1 + std::log2((long double)(length))) * 0.4L;
  EXPECT_LE(std::sqrt(error), bound * std::sqrt(size))
      << "kind " << int(kind) << ", " << lines << " lines of " << length
      << ", orders " << int(fromOrder) << " and " << int(toOrder);
  // Nothing is written beside the lines.
  if (toOrder == LinesOrder::Apart)
    for (int64_t l = 0; l < lines; ++l)
      for (int64_t i = 0; i + 1 < to.count; ++i)
        for (int64_t beside : {1, 2}) {
          const int64_t offset =
              i * to.strides.element + l * to.strides.line + beside;
          const auto place = size_t(isToReal ? offset : 2 * offset);
          ASSERT_EQ(to.memory[place], before[place]);
        }
}

template <typename Real> class FourierPlanTest : public testing::Test {};
using FourierTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(FourierPlanTest, FourierTypes);

constexpr FourierKind fourierKinds[] = {
    FourierKind::Forward, FourierKind::Inverse, FourierKind::FromReal,
    FourierKind::ToReal};

// Every pass, lines as matrices and as convolutions, even and odd: errors grow
// as the logarithm of the length.
TYPED_TEST(FourierPlanTest, LengthsOfEveryKind) {
  for (FourierKind kind : fourierKinds)
    for (int64_t length :
         {1,   2,   3,   4,   5,   6,    7,    8,    9,    11,   13,   16,  17,
          25,  31,  32,  37,  49,  74,   97,   100,  101,  128,  210,  255, 256,
          257, 300, 343, 512, 899, 1000, 1009, 1024, 2018, 2310, 16382})
      expectTransform<TypeParam>(kind, length, 3, LinesOrder::Dense,
                                 LinesOrder::Dense, 40);
}

// Lines wherever they lie, and any number of them.
TYPED_TEST(FourierPlanTest, LinesInEveryOrder) {
  for (FourierKind kind : fourierKinds)
    for (int64_t length : {15, 330, 512, 514, 693})
      for (int64_t lines : {1, 5, 16, 37})
        for (LinesOrder from :
             {LinesOrder::Dense, LinesOrder::Strided, LinesOrder::Apart})
          for (LinesOrder to :
               {LinesOrder::Dense, LinesOrder::Strided, LinesOrder::Apart})
            expectTransform<TypeParam>(kind, length, lines, from, to, 5);
}

// A line's bits depend on neither the lines beside it nor where it lies; a
// result may take its operand's place.
TYPED_TEST(FourierPlanTest, BitsFollowFromTheLineAlone) {
  for (int64_t length : {60, 360, 1009, 1024})
    for (FourierKind kind : {FourierKind::Forward, FourierKind::Inverse}) {
      constexpr int64_t lines = 35;
      auto run = [&](LinesOrder order, int64_t count, bool inPlace) {
        LinesSide<TypeParam> from(false, length, lines, order), to = from;
        for (int64_t l = 0; l < lines; ++l)
          for (int64_t i = 0; i < length; ++i)
            for (int part : {0, 1})
              from.part(i, l, part) = TypeParam(lineNumberAt(i, l, part));
        LinesSide<TypeParam> &target = inPlace ? from : to;
        const auto plan = FourierPlan<TypeParam>::get(kind, length);
        for (int64_t l = 0; l < lines; l += count)
          plan->run(&from.part(0, l, 0), from.strides, &target.part(0, l, 0),
                    target.strides, std::min(count, lines - l));
        std::vector<std::complex<TypeParam>> results;
        for (int64_t l = 0; l < lines; ++l)
          for (int64_t i = 0; i < length; ++i)
            results.emplace_back(target.part(i, l, 0), target.part(i, l, 1));
        return results;
      };
      const auto expected = run(LinesOrder::Dense, 1, false);
      for (LinesOrder order :
           {LinesOrder::Dense, LinesOrder::Strided, LinesOrder::Apart})
        for (int64_t count : {int64_t(1), int64_t(11), lines})
          for (bool inPlace : {false, true})
            EXPECT_EQ(run(order, count, inPlace), expected)
                << length << ", order " << int(order) << ", " << count;
    }
}

// A long line, by a sample.
TYPED_TEST(FourierPlanTest, LongLines) {
  constexpr int64_t length = 1 << 18;
  LinesSide<TypeParam> from(false, length, 1, LinesOrder::Dense), to = from;
  // A wave of one frequency has one element.
  constexpr int64_t frequency = 12345;
  for (int64_t i = 0; i < length; ++i) {
    const WideComplex value = std::polar(
        1.0L, 2 * std::numbers::pi_v<long double> *
                  (long double)(i * frequency % length) / (long double)length);
    from.part(i, 0, 0) = TypeParam(value.real());
    from.part(i, 0, 1) = TypeParam(value.imag());
  }
  FourierPlan<TypeParam>::get(FourierKind::Forward, length)
      ->run(from.memory.data(), from.strides, to.memory.data(), to.strides, 1);
  const auto bound = double(std::numeric_limits<TypeParam>::epsilon()) * length;
  for (int64_t k = 0; k < length; ++k) {
    ASSERT_NEAR(to.part(k, 0, 0), k == frequency ? double(length) : 0, bound);
    ASSERT_NEAR(to.part(k, 0, 1), 0, bound);
  }
}
} // namespace
