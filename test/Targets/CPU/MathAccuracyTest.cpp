// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementary functions of f32 kernels against libm in f64, and those of f64
// kernels against libm in long double: relative errors over the whole range of
// each function, and what is special about it.
#include "KernelHarness.h"

#include <bit>
#include <chrono>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <random>

using namespace meshloom;

namespace {
struct Function {
  std::string op;
  double (*exact)(double);
  /// Allowed distance from the exact value, in units of the last place.
  double ulps;
};

/// Every 100,003rd bit pattern, and the ends of all ranges.
std::vector<float> samples() {
  std::vector<float> x;
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += 100'003)
    x.push_back(std::bit_cast<float>(uint32_t(bits)));
  using Limits = std::numeric_limits<float>;
  for (float value : {0.f,
                      1.f,
                      2.f,
                      0.5f,
                      1e-3f,
                      1e-7f,
                      88.f,
                      88.72f,
                      88.73f,
                      89.f,
                      87.33f,
                      103.9f,
                      104.f,
                      150.f,
                      9.f,
                      10.f,
                      20.f,
                      0.34f,
                      0.35f,
                      0.7071f,
                      4.f,
                      Limits::max(),
                      Limits::min(),
                      Limits::denorm_min(),
                      Limits::infinity(),
                      Limits::quiet_NaN(),
                      3.14159265f,
                      1.57079637f,
                      1e5f,
                      1e8f}) {
    x.push_back(value);
    x.push_back(-value);
  }
  for (int i = 0; i < 20'000; ++i)
    x.push_back(float(i - 10'000) * 0.01f);
  return x;
}

double ulp(double value) {
  float single = std::abs(float(value));
  if (!std::isfinite(single))
    return std::ldexp(1.0, 104);
  return double(
             std::nextafter(single, std::numeric_limits<float>::infinity())) -
         single;
}

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}
double rsqrt(double x) {
  return 1 / std::sqrt(x);
}

class MathAccuracyTest : public testing::TestWithParam<Function> {};

TEST_P(MathAccuracyTest, CloseToLibm) {
  const Function &function = GetParam();
  std::vector<float> x = samples(), y(x.size());
  std::string type = "tensor<" + std::to_string(x.size()) + "xf32>";
  KernelHarness kernel("func.func @f(%x: " + type + ") -> " + type +
                       " { %0 = dtensor." + function.op + " %x : " + type +
                       " return %0 : " + type + " }");
  kernel.call(
      {rowMajor(x, {int64_t(x.size())}), rowMajor(y, {int64_t(x.size())})});
  double worst = 0;
  float worstAt = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    double exact = function.exact(double(x[i]));
    float rounded = float(exact);
    if (x[i] == 0 && exact == 0)
      EXPECT_EQ(std::signbit(y[i]), std::signbit(x[i])) << function.op;
    if (std::isnan(rounded) || std::isinf(rounded) || std::isinf(y[i]) ||
        std::isnan(y[i])) {
      bool same = std::isnan(rounded) ? std::isnan(y[i]) : rounded == y[i];
      // The last value before overflow may round either way.
      same |= std::abs(exact) > 3.4028e38 && std::abs(exact) < 3.4029e38;
      EXPECT_TRUE(same) << function.op << "(" << x[i] << ") = " << y[i]
                        << ", expected " << rounded;
      continue;
    }
    double error = std::abs(y[i] - exact) / ulp(exact);
    if (error > worst) {
      worst = error;
      worstAt = x[i];
    }
  }
  EXPECT_LE(worst, function.ulps) << function.op << "(" << worstAt << ")";
}

INSTANTIATE_TEST_SUITE_P(
    Functions, MathAccuracyTest,
    testing::Values(
        Function{"exp", std::exp, 2}, Function{"expm1", std::expm1, 3},
        Function{"log", std::log, 2}, Function{"log1p", std::log1p, 3},
        Function{"tanh", std::tanh, 4}, Function{"erf", std::erf, 6},
        Function{"cbrt", std::cbrt, 1}, Function{"sine", std::sin, 2},
        Function{"cosine", std::cos, 2}, Function{"tan", std::tan, 4},
        Function{"logistic", logistic, 4}, Function{"rsqrt", rsqrt, 2},
        Function{"sqrt", std::sqrt, 0.5001}),
    [](auto &info) { return info.param.op; });

struct WideFunction {
  std::string op;
  long double (*exact)(long double);
  double ulps;
};

/// Bit patterns of all exponents, the ends of ranges, and usual numbers.
std::vector<double> wideSamples() {
  std::vector<double> x;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 63); bits += 0x1fffffff1fff1f)
    for (uint64_t sign : {uint64_t(0), uint64_t(1) << 63})
      x.push_back(std::bit_cast<double>(bits | sign));
  using Limits = std::numeric_limits<double>;
  for (double value : {0.,
                       1.,
                       2.,
                       0.5,
                       1e-3,
                       1e-9,
                       1e-17,
                       0.34,
                       0.3466,
                       0.35,
                       0.625,
                       0.62499,
                       0.7071,
                       0.70711,
                       708.3,
                       708.4,
                       709.78,
                       709.79,
                       710.,
                       711.,
                       744.4,
                       745.1,
                       745.2,
                       746.,
                       1e4,
                       1e300,
                       36.,
                       6.,
                       6.01,
                       5.99,
                       1.5707963267948966,
                       3.1415926535897931,
                       0x1p48,
                       0x1p49,
                       0x1.8p49,
                       1e22,
                       40.,
                       41.,
                       Limits::max(),
                       Limits::min(),
                       Limits::denorm_min(),
                       Limits::infinity(),
                       Limits::quiet_NaN()}) {
    x.push_back(value);
    x.push_back(-value);
  }
  for (int i = 0; i < 40'000; ++i)
    x.push_back(double(i - 20'000) * 0.0013);
  for (int i = 1; i < 20'000; i += 3) // next to multiples of pi / 2
    x.push_back(double(i) * i * 1.5707963267948966);
  return x;
}

class WideMathAccuracyTest : public testing::TestWithParam<WideFunction> {};

TEST_P(WideMathAccuracyTest, CloseToLibm) {
  const WideFunction &function = GetParam();
  std::vector<double> x = wideSamples(), y(x.size());
  std::string type = "tensor<" + std::to_string(x.size()) + "xf64>";
  KernelHarness kernel("func.func @f(%x: " + type + ") -> " + type +
                       " { %0 = dtensor." + function.op + " %x : " + type +
                       " return %0 : " + type + " }");
  kernel.call(
      {rowMajor(x, {int64_t(x.size())}), rowMajor(y, {int64_t(x.size())})});
  double worst = 0, worstAt = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const long double exact = function.exact(x[i]);
    const auto rounded = double(exact);
    if (x[i] == 0 && exact == 0)
      EXPECT_EQ(std::signbit(y[i]), std::signbit(x[i])) << function.op;
    if (!std::isfinite(rounded) || !std::isfinite(y[i])) {
      EXPECT_TRUE(std::isnan(rounded) ? std::isnan(y[i]) : rounded == y[i])
          << function.op << "(" << x[i] << ") = " << y[i] << ", expected "
          << rounded;
      continue;
    }
    const double size = std::abs(rounded);
    const double ulp =
        size < std::numeric_limits<double>::max()
            ? std::nextafter(size, std::numeric_limits<double>::infinity()) -
                  size
            : std::ldexp(1.0, 971);
    const auto error = double(std::abs((long double)(y[i]) - exact) / ulp);
    if (error > worst) {
      worst = error;
      worstAt = x[i];
    }
  }
  EXPECT_LE(worst, function.ulps) << function.op << "(" << worstAt << ")";
}

INSTANTIATE_TEST_SUITE_P(Functions, WideMathAccuracyTest,
                         testing::Values(WideFunction{"exp", std::exp, 1.5},
                                         WideFunction{"expm1", std::expm1, 2},
                                         WideFunction{"log", std::log, 1.5},
                                         WideFunction{"log1p", std::log1p, 2},
                                         WideFunction{"tanh", std::tanh, 1.5},
                                         WideFunction{"erf", std::erf, 2.5},
                                         WideFunction{"cbrt", std::cbrt, 1},
                                         WideFunction{"sine", std::sin, 1},
                                         WideFunction{"cosine", std::cos, 1},
                                         WideFunction{"tan", std::tan, 2}),
                         [](auto &info) { return info.param.op; });

// Remainders are exact: of numbers of any size, huge quotients included, of
// zeros, infinities and nan, and with their signs.
TEST(RemainderTest, RemaindersEqualThoseOfLibm) {
  using Limits = std::numeric_limits<float>;
  std::vector<float> numbers{0.F,
                             1.F,
                             3.F,
                             0.1F,
                             16777215.F,
                             268435456.F,
                             1e-30F,
                             1e30F,
                             Limits::max(),
                             Limits::min(),
                             Limits::denorm_min(),
                             Limits::infinity(),
                             Limits::quiet_NaN()};
  for (int i = 1; i < 60; ++i)
    numbers.push_back(float(i) * 0.37F);
  // Alone, so that none of the others has the call repeated.
  const std::vector<float> usual(numbers.end() - 59, numbers.end());
  for (const std::vector<float> &values : {usual, numbers}) {
    std::vector<float> x, y;
    for (float a : values)
      for (float b : values)
        for (float sign : {1.F, -1.F}) {
          x.push_back(sign * a);
          y.push_back(b);
        }
    const auto count = int64_t(x.size());
    std::vector<float> remainder(x.size());
    const std::string type = "tensor<" + std::to_string(count) + "xf32>";
    KernelHarness kernel("func.func @f(%x: " + type + ", %y: " + type +
                         ") -> " + type +
                         " { %0 = dtensor.remainder %x, %y : " + type +
                         " return %0 : " + type + " }");
    kernel.call({rowMajor(x, {count}), rowMajor(y, {count}),
                 rowMajor(remainder, {count})});
    for (size_t i = 0; i < x.size(); ++i) {
      const float expected = std::fmod(x[i], y[i]);
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(remainder[i])) << x[i] << " by " << y[i];
      else
        EXPECT_EQ(std::bit_cast<uint32_t>(remainder[i]),
                  std::bit_cast<uint32_t>(expected))
            << x[i] << " by " << y[i];
    }
  }
}

// Divisions by constants are multiplications, and as exact as divisions.
TEST(DivisionTest, QuotientsByConstantsAreRounded) {
  std::vector<float> x;
  for (int exponent = -24; exponent < 127; ++exponent)
    for (int i = 0; i < 97; ++i)
      x.push_back(
          std::ldexp(1 + float(i * 86477 % 8388608) / 8388608, exponent) *
          (i % 2 ? 1.F : -1.F));
  for (int i = 1; i < 1000; ++i)
    x.push_back(float(i));
  using Limits = std::numeric_limits<float>;
  for (float special : {0.F, -0.F, Limits::infinity(), -Limits::infinity(),
                        Limits::quiet_NaN(), Limits::max()})
    x.push_back(special);
  const auto count = int64_t(x.size());
  const std::string type = "tensor<" + std::to_string(count) + "xf32>";
  for (const std::string divisor : {"3.0", "-7.0", "0.22", "255.0", "1.0e10"}) {
    KernelHarness kernel("func.func @f(%x: " + type + ") -> " + type +
                         " { %c = dtensor.constant dense<" + divisor + "> : " +
                         type + " %0 = dtensor.divide %x, %c : " + type +
                         " return %0 : " + type + " }");
    std::vector<float> quotient(x.size());
    kernel.call({rowMajor(x, {count}), rowMajor(quotient, {count})});
    for (size_t i = 0; i < x.size(); ++i) {
      const float expected = x[i] / std::stof(divisor);
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(quotient[i])) << x[i] << " by " << divisor;
      else
        EXPECT_EQ(std::bit_cast<uint32_t>(quotient[i]),
                  std::bit_cast<uint32_t>(expected))
            << x[i] << " by " << divisor;
    }
  }
}

// Quotients of complex numbers by real ones are infinite where C's are.
TEST(DivisionTest, ComplexNumbersByRealOnes) {
  using Limits = std::numeric_limits<float>;
  std::vector<std::complex<float>> x;
  for (float real : {0.F, -0.F, 1.F, -2.5F, Limits::infinity(),
                     -Limits::infinity(), Limits::quiet_NaN()})
    for (float imaginary : {0.F, -0.F, 3.F, Limits::infinity(),
                            -Limits::infinity(), Limits::quiet_NaN()})
      x.emplace_back(real, imaginary);
  const auto count = int64_t(x.size());
  const std::string type = "tensor<" + std::to_string(count) + "xcomplex<f32>>";
  for (const float divisor : {3.F, -3.F}) {
    KernelHarness kernel("func.func @f(%x: " + type + ") -> " + type +
                         " { %c = dtensor.constant dense<(" +
                         std::to_string(divisor) + ", 0.0)> : " + type +
                         " %0 = dtensor.divide %x, %c : " + type +
                         " return %0 : " + type + " }");
    std::vector<std::complex<float>> quotient(x.size());
    kernel.call({rowMajor(x, {count}), rowMajor(quotient, {count})});
    for (size_t i = 0; i < x.size(); ++i) {
      const auto expected = x[i] / std::complex<float>(divisor, 0);
      for (const bool isReal : {true, false}) {
        auto part = [&](std::complex<float> z) {
          return isReal ? z.real() : z.imag();
        };
        const float actual = part(quotient[i]), wanted = part(expected);
        EXPECT_TRUE(std::isnan(wanted)
                        ? std::isnan(actual)
                        : actual == wanted &&
                              std::signbit(actual) == std::signbit(wanted))
            << x[i] << " by " << divisor << " is " << quotient[i] << ", not "
            << expected;
      }
    }
  }
}

template <typename T> class IntegerDivisionTest : public testing::Test {};
using DividedTypes =
    testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>;
TYPED_TEST_SUITE(IntegerDivisionTest, DividedTypes);

// Integers are divided as floats, which round: quotients close to whole numbers
// are the ones to look at. Division by zero gives -1, and the remainder the
// dividend; the lowest number by -1 is itself.
TYPED_TEST(IntegerDivisionTest, QuotientsAndRemaindersAreExact) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  std::vector<T> numbers{T(0), T(1), T(-1), T(2), T(3), T(7)};
  for (int i = 0; i < 4; ++i)
    for (const int64_t end : {int64_t(Limits::min()), int64_t(Limits::max()),
                              int64_t(Limits::max()) / 2, int64_t(46341)})
      numbers.push_back(T(end + (end < 0 ? i : -i)));
  std::mt19937 random(1);
  for (int i = 0; i < 40; ++i)
    numbers.push_back(T(random() >> (i % 32)));
  std::vector<T> dividends, divisors;
  for (const T factor : numbers)
    for (const T divisor : numbers)
      for (const int shift : {-1, 0, 1}) { // around a multiple
        dividends.push_back(T(uint64_t(factor) * uint64_t(divisor) + shift));
        divisors.push_back(divisor);
        dividends.push_back(T(int64_t(factor) + shift));
        divisors.push_back(divisor);
      }
  const auto count = int64_t(dividends.size());
  const std::string type = "tensor<" + std::to_string(count) + "x" +
                           (Limits::is_signed ? "i" : "ui") +
                           std::to_string(8 * sizeof(T)) + ">";
  KernelHarness kernel("func.func @f(%x: " + type + ", %y: " + type + ") -> (" +
                       type + ", " + type +
                       ") { %0 = dtensor.divide %x, %y : " + type +
                       " %1 = dtensor.remainder %x, %y : " + type +
                       " return %0, %1 : " + type + ", " + type + " }");
  std::vector<T> quotients(dividends.size()), remainders(dividends.size());
  kernel.call({rowMajor(dividends, {count}), rowMajor(divisors, {count}),
               rowMajor(quotients, {count}), rowMajor(remainders, {count})});
  for (size_t i = 0; i < dividends.size(); ++i) {
    const T divisor = divisors[i] == 0 ? T(1) : divisors[i];
    const auto quotient = T(int64_t(dividends[i]) / int64_t(divisor));
    EXPECT_EQ(quotients[i], divisors[i] == 0 ? T(-1) : quotient)
        << +dividends[i] << " by " << +divisors[i];
    EXPECT_EQ(remainders[i], divisors[i] == 0
                                 ? dividends[i]
                                 : T(int64_t(dividends[i]) % int64_t(divisor)))
        << +dividends[i] << " by " << +divisors[i];
  }
}

template <typename T> class PowerTest : public testing::Test {};
using PowerTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(PowerTest, PowerTypes);

// Zeros, infinities and nan, negative bases with whole and with other
// exponents, and results near the ends of the range.
TYPED_TEST(PowerTest, PowersAreCloseToLibm) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  std::vector<T> numbers{0,
                         1,
                         T(0.5),
                         2,
                         3,
                         T(0.1),
                         T(1e-30),
                         T(1e30),
                         1 - Limits::epsilon(),
                         1 + Limits::epsilon(),
                         T(1e9) + 1,
                         Limits::max(),
                         Limits::min(),
                         Limits::denorm_min(),
                         Limits::infinity(),
                         Limits::quiet_NaN()};
  for (int i = 1; i < 60; ++i)
    numbers.push_back(T(i) * T(0.37));
  std::vector<T> x, y;
  for (T a : numbers)
    for (T b : numbers)
      for (T signA : {1, -1})
        for (T signB : {1, -1}) {
          x.push_back(std::copysign(a, signA));
          y.push_back(std::copysign(b, signB));
        }
  const auto count = int64_t(x.size());
  std::vector<T> power(x.size());
  const std::string type = "tensor<" + std::to_string(count) + "xf" +
                           std::to_string(8 * sizeof(T)) + ">";
  KernelHarness kernel("func.func @f(%x: " + type + ", %y: " + type + ") -> " +
                       type + " { %0 = dtensor.power %x, %y : " + type +
                       " return %0 : " + type + " }");
  kernel.call(
      {rowMajor(x, {count}), rowMajor(y, {count}), rowMajor(power, {count})});
  for (size_t i = 0; i < x.size(); ++i) {
    const auto exact = std::pow((long double)(x[i]), (long double)(y[i]));
    const auto expected = T(exact);
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(power[i])) << x[i] << " to the " << y[i];
    else if (!std::isfinite(expected) || expected == 0)
      EXPECT_EQ(power[i], expected) << x[i] << " to the " << y[i];
    else
      EXPECT_LE(std::abs((long double)(power[i]) - exact),
                2 * Limits::epsilon() * std::abs(exact) + Limits::denorm_min())
          << x[i] << " to the " << y[i];
  }
}

// All quadrants and octants; sides of any size, zeros and infinities with their
// signs, and nan.
TEST(WideMathAccuracyTest, AnglesOfSidesAreCloseToLibm) {
  using Limits = std::numeric_limits<double>;
  std::vector<double> sides{0.,
                            1.,
                            0.66,
                            0.65,
                            0.67,
                            3.,
                            1e-300,
                            1e300,
                            1.7e308,
                            Limits::max(),
                            Limits::min(),
                            Limits::denorm_min(),
                            Limits::infinity(),
                            Limits::quiet_NaN()};
  for (int i = 1; i < 40; ++i)
    sides.push_back(0.0371 * i);
  std::vector<double> y, x;
  for (double a : sides)
    for (double b : sides)
      for (double signA : {1., -1.})
        for (double signB : {1., -1.}) {
          y.push_back(std::copysign(a, signA));
          x.push_back(std::copysign(b, signB));
        }
  const auto count = int64_t(x.size());
  std::vector<double> angle(x.size());
  const std::string type = "tensor<" + std::to_string(count) + "xf64>";
  KernelHarness kernel("func.func @f(%y: " + type + ", %x: " + type + ") -> " +
                       type + " { %0 = dtensor.atan2 %y, %x : " + type +
                       " return %0 : " + type + " }");
  kernel.call(
      {rowMajor(y, {count}), rowMajor(x, {count}), rowMajor(angle, {count})});
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = std::atan2(y[i], x[i]);
    const std::string sidesText =
        "atan2(" + std::to_string(y[i]) + ", " + std::to_string(x[i]) + ")";
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(angle[i])) << sidesText;
      continue;
    }
    EXPECT_EQ(std::signbit(angle[i]), std::signbit(expected)) << sidesText;
    const double ulp = std::nextafter(std::abs(expected), Limits::infinity()) -
                       std::abs(expected);
    EXPECT_LE(std::abs(angle[i] - expected), 2 * ulp) << sidesText;
  }
}

// The exponentials that a mask hides from a softmax vanish. They take as long
// as others: no denormal is multiplied, which some processors do a hundred
// times more slowly.
TEST(ExponentialTest, ExponentialsThatVanishTakeNoLonger) {
  constexpr int64_t count = 4096;
  const std::string type = "tensor<4096xf32>";
  KernelHarness kernel("func.func @f(%x: " + type + ") -> " + type +
                       " { %0 = dtensor.exp %x : " + type +
                       " return %0 : " + type + " }");
  /// Nanoseconds of the fastest of many calls: one that nothing else disturbed.
  auto best = [&](float value, float result) {
    std::vector<float> x(count, value), y(count);
    auto shortest = std::chrono::steady_clock::duration::max();
    for (int call = 0; call < 200; ++call) {
      const auto begin = std::chrono::steady_clock::now();
      kernel.call({rowMajor(x, {count}), rowMajor(y, {count})});
      shortest = std::min(shortest, std::chrono::steady_clock::now() - begin);
    }
    EXPECT_NEAR(y[7], result, 1e-6);
    return double(shortest.count());
  };
  const double usual = best(-1, 0.36787944F);
  for (float value : {-104.F, -1e9F, -std::numeric_limits<float>::infinity()})
    EXPECT_LT(best(value, 0), 4 * usual) << value;
}
} // namespace
