// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types, complex numbers, bits and special functions in the user API.
#include "Testing.h"

#include <cmath>
#include <complex>
#include <limits>
#include <sstream>

namespace meshloom {
namespace {

using C64 = std::complex<float>;
using C128 = std::complex<double>;

template <typename T> std::string print(T value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

TEST(NumberOpsTest, HostArraysOfEveryElementType) {
  EXPECT_EQ(tensor({_Float16(1.5), _Float16(-2)}).dtype(), DType::F16);
  EXPECT_EQ(tensor({int16_t(-3)}).to_vector<int16_t>(),
            (std::vector<int16_t>{-3}));
  EXPECT_EQ(tensor({uint16_t(65535)}).dtype(), DType::UI16);
  std::vector<uint64_t> large{UINT64_MAX, 1};
  EXPECT_EQ(tensor(large, {2}).to_vector<uint64_t>(), large);
  std::vector<C64> z{{1, 2}, {-0.5f, 0}};
  EXPECT_EQ(tensor(z, {2}).to_vector<C64>(), z);
  EXPECT_EQ(tensor(C128(1, -1)).item<C128>(), C128(1, -1));
  // A type that holds every value of the tensor's type is enough.
  EXPECT_EQ(tensor(C64(1, 2)).item<C128>(), C128(1, 2));
  EXPECT_EQ(tensor(2.5f).item<C64>(), C64(2.5f));
  EXPECT_EQ(tensor({_Float16(0.25)}).to_vector<float>(),
            (std::vector<float>{0.25f}));
  EXPECT_EQ(tensor(uint16_t(7)).item<float>(), 7.f);
  EXPECT_ERROR(tensor(large, {2}).to_vector<int64_t>(), HAS("i64"),
               HAS("ui64"));
  EXPECT_ERROR(tensor(C64(1, 2)).item<float>(), HAS("complex<f32>"));
}

TEST(NumberOpsTest, NumbersBesideTensorsOfTheNewTypes) {
  EXPECT_EQ((tensor({C64(1, 2)}) * 2).to_vector<C64>(),
            (std::vector<C64>{{2, 4}}));
  EXPECT_EQ((tensor(std::vector<uint64_t>{1}, {1}) + UINT64_MAX)
                .to_vector<uint64_t>(),
            (std::vector<uint64_t>{0}));
  EXPECT_EQ((tensor({int16_t(5)}) - 7).to_vector<int16_t>(),
            (std::vector<int16_t>{-2}));
  EXPECT_ERROR(tensor({int16_t(5)}) + 40000, HAS("i16"), HAS("40000"));
  EXPECT_ERROR(tensor({int64_t(5)}) + UINT64_MAX, HAS("18446744073709551615"));
}

TEST(NumberOpsTest, TensorsOfTheNewTypesArePrinted) {
  EXPECT_THAT(print(tensor({C64(1, 2), C64(-0.5f, -10)})),
              testing::StartsWith("[  1. +2.j -0.5-10.j]"));
  EXPECT_THAT(print(tensor({UINT64_MAX})),
              testing::StartsWith("[18446744073709551615]"));
  EXPECT_THAT(print(tensor({_Float16(0.1)})), testing::StartsWith("[0.1]"));
}

TEST(NumberOpsTest, ComplexNumbers) {
  Tensor z = complex(tensor({3.f, 0.f}), tensor({4.f, -2.f}));
  EXPECT_EQ(z.dtype(), DType::C64);
  expectNear(abs(z), {5, 2});
  expectNear(real(z), {3, 0});
  expectNear(imag(z), {4, -2});
  expectNear(angle(z), {std::atan2(4, 3), -std::acos(-1) / 2});
  expectNear(imag(conj(z)), {-4, 2});
  EXPECT_EQ((z * conj(z)).to_vector<C64>(), (std::vector<C64>{25, 4}));
  C64 w = exp(z).to_vector<C64>()[0];
  EXPECT_LT(std::abs(w - std::exp(C64(3, 4))), 1e-4f);
  EXPECT_EQ(cast(z, DType::F32).to_vector<float>(), (std::vector<float>{3, 0}));
  EXPECT_EQ(reduce_sum(z).item<C64>(), C64(3, 2));
  EXPECT_EQ(equal(z, 3).to_vector<bool>(), (std::vector<bool>{false, false}));
  EXPECT_ERROR(less(z, z), HAS("order"), HAS("complex<f32>"));
  EXPECT_ERROR(reduce_max(z), HAS("order"));
  EXPECT_ERROR(maximum(z, z), HAS("order"));
  EXPECT_ERROR(floor(z), HAS("float"));
  EXPECT_ERROR(complex(tensor({1}), tensor({2})), HAS("f32 or f64"));
}

TEST(NumberOpsTest, GradientsOfComplexNumbersPointUphill) {
  // |z|^2 = x^2 + y^2 grows along 2x + 2iy.
  Tensor z = tensor({C64(1, 2), C64(-3, 0.5f)});
  GradientTape tape;
  tape.watch(z);
  Tensor loss = reduce_sum(square(abs(z)));
  EXPECT_EQ(tape.gradient(loss, z).to_vector<C64>(),
            (std::vector<C64>{{2, 4}, {-6, 1}}));
}

TEST(NumberOpsTest, Bits) {
  Tensor x = tensor({1, -8, 5});
  EXPECT_EQ(left_shift(x, 2).to_vector<int32_t>(),
            (std::vector<int32_t>{4, -32, 20}));
  EXPECT_EQ(left_shift(x, 32).to_vector<int32_t>(),
            (std::vector<int32_t>{0, 0, 0}));
  EXPECT_EQ(right_shift(x, 1).to_vector<int32_t>(),
            (std::vector<int32_t>{0, -4, 2}));
  EXPECT_EQ(right_shift(tensor({uint8_t(0x80)}), 7).to_vector<uint8_t>(),
            (std::vector<uint8_t>{1}));
  EXPECT_EQ(population_count(x).to_vector<int32_t>(),
            (std::vector<int32_t>{1, 29, 2}));
  EXPECT_EQ(count_leading_zeros(x).to_vector<int32_t>(),
            (std::vector<int32_t>{31, 0, 29}));
  EXPECT_ERROR(left_shift(tensor({1.f}), 1), HAS("integers"));
}

TEST(NumberOpsTest, CastsOfBits) {
  Tensor x = tensor({1.f, -2.f});
  EXPECT_EQ(bitcast(x, DType::UI32).to_vector<uint32_t>(),
            (std::vector<uint32_t>{0x3f800000, 0xc0000000}));
  Tensor bytes = bitcast(x, DType::UI8);
  EXPECT_EQ(bytes.shape(), (Shape{2, 4}));
  EXPECT_EQ(bitcast(bytes, DType::F32).to_vector<float>(),
            (std::vector<float>{1, -2}));
  EXPECT_EQ(bitcast(x, DType::C64).to_vector<C64>(),
            (std::vector<C64>{{1, -2}}));
  EXPECT_ERROR(bitcast(tensor({1.f}), DType::F64), HAS("last dim of 2"));
  EXPECT_ERROR(bitcast(x, DType::I1), HAS("whole bytes"));
}

TEST(NumberOpsTest, SpecialFunctionsMatchTheirNames) {
  std::vector<double> in{0.1, 0.3, 0.5, 0.8};
  Tensor x = tensor(in, {4});
  auto check = [&](const Tensor &y, auto f) {
    std::vector<double> expected;
    for (double value : in)
      expected.push_back(f(value));
    expectNear(y, expected);
  };
  check(tan(x), [](double v) { return std::tan(v); });
  check(asin(x), [](double v) { return std::asin(v); });
  check(acos(x), [](double v) { return std::acos(v); });
  check(atan(x), [](double v) { return std::atan(v); });
  check(sinh(x), [](double v) { return std::sinh(v); });
  check(cosh(x), [](double v) { return std::cosh(v); });
  check(asinh(x), [](double v) { return std::asinh(v); });
  check(acosh(x + 1), [](double v) { return std::acosh(v + 1); });
  check(atanh(x), [](double v) { return std::atanh(v); });
  check(lgamma(x), [](double v) { return std::lgamma(v); });
  check(erfc(x), [](double v) { return std::erfc(v); });
  check(erf(erfinv(x)), [](double v) { return v; });
  check(atan2(x, 2), [](double v) { return std::atan2(v, 2); });
  check(nextafter(x, 1), [](double v) { return std::nextafter(v, 1); });
  // digamma(x + 1) = digamma(x) + 1 / x, and so on.
  check(digamma(x + 1) - digamma(x), [](double v) { return 1 / v; });
  check(polygamma(1.0, x) - polygamma(1.0, x + 1),
        [](double v) { return 1 / (v * v); });
  check(zeta(3.0, x) - zeta(3.0, x + 1),
        [](double v) { return 1 / (v * v * v); });
  expectNear(round_nearest_afz(tensor({0.5f, -2.5f})), {1, -3});
  EXPECT_EQ(reduce_precision(tensor({2.5f, 1e10f}), 5, 1).to_vector<float>(),
            (std::vector<float>{2, INFINITY}));
  EXPECT_ERROR(reduce_precision(x, 0, 1), HAS("exponent"));
}

TEST(NumberOpsTest, ErfinvNearZeroIsPreciseRelatively) {
  Tensor x = tensor({1e-300, -1e-40, 1e-8, 1e-3, 0.49, 0.51, 1 - 1e-9});
  const std::vector<double> roots = erfinv(x).to_vector<double>();
  // SciPy's.
  const std::vector<double> expected{
      8.86226925452758e-301, -8.862269254527579e-41, 8.86226925452758e-09,
      0.000886227157466552,  0.4658686002350574,     0.4881220505159588,
      4.320005388105362};
  for (size_t i = 0; i < roots.size(); ++i)
    EXPECT_NEAR(roots[i] / expected[i], 1, 4e-15) << expected[i];
}

TEST(NumberOpsTest, SlopesOfSpecialFunctionsAreFiniteWhereTheyAre) {
  struct Slope {
    const char *name;
    Tensor (*function)(const Tensor &, Where);
    std::vector<double> points, slopes; ///< JAX's
  };
  const std::vector<Slope> cases{
      {"asinh", asinh, {0, 1, -1e10}, {1, 0.7071067811865475, 1e-10}},
      {"sinh", sinh, {0, -50}, {1, 2.5923527642935313e21}},
      {"erfc", erfc, {0, 1e100}, {-1.1283791670955126, 0}},
      {"erfinv",
       erfinv,
       {0, 1e-20, 0.3, -0.999},
       {0.8862269254527579, 0.8862269254527579, 0.9545203588405493,
        198.93951776442725}},
      {"lgamma",
       lgamma,
       {1, 3, 50, -0.5},
       {-0.5772156649015334, 0.9227843350984669, 3.901989673427891,
        0.0364899739785768}},
      {"bessel_i1e", bessel_i1e, {0, 1e5}, {0.5, -6.30776034e-9}}};
  for (const auto &[name, function, points, slopes] : cases) {
    Tensor x = tensor(points, {int64_t(points.size())});
    GradientTape tape;
    const Tensor y = function(x, Where::current());
    const std::vector<double> got = tape.gradient(y, x).to_vector<double>();
    for (size_t i = 0; i < points.size(); ++i)
      EXPECT_NEAR(got[i], slopes[i], 1e-7 * std::abs(slopes[i]))
          << name << " at " << points[i];
  }
}

TEST(NumberOpsTest, AcosIsSteepAtBothEnds) {
  Tensor x = tensor({-1.0, 0.5, 1.0}, {3});
  GradientTape tape;
  const Tensor y = acos(x);
  const std::vector<double> slopes = tape.gradient(y, x).to_vector<double>();
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(slopes[0], -infinite);
  EXPECT_NEAR(slopes[1], -2 / std::sqrt(3), 1e-15);
  EXPECT_EQ(slopes[2], -infinite);
  EXPECT_EQ(y.to_vector<double>()[0], std::acos(-1));
}

TEST(NumberOpsTest, TheLargerOfNanAndZeroIsNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Tensor x = tensor({nan, 0.f, nan, -0.f, nan, 1.f}),
         y = tensor({0.f, nan, -0.f, nan, 1.f, nan});
  for (DType type : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    const Tensor a = cast(x, type), b = cast(y, type);
    for (const Tensor &extreme :
         {maximum(a, b), minimum(a, b), maximum(a(range(0, {}, 2)), 0),
          clip_by_value(a(range(0, {}, 2)), 0, 0)})
      for (float value : cast(extreme, DType::F32).to_vector<float>())
        EXPECT_TRUE(std::isnan(value)) << extreme;
  }
}

} // namespace
} // namespace meshloom
