// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels against plain C++: extents, strides, parts, reductions, storage
// types.
#include "KernelHarness.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

using namespace meshloom;

namespace {
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<float> randomFloats(size_t n, unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> result(n);
  for (float &x : result)
    x = uniform(generator);
  return result;
}

uint16_t toBF16(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
float fromBF16(uint16_t x) {
  return std::bit_cast<float>(uint32_t(x) << 16);
}

const char *biasText = R"(
  func.func @f(%x: tensor<13x37xf32>, %b: tensor<37xf32>) -> tensor<13x37xf32> {
    %0 = dtensor.broadcast_in_dim %b dims [1] : (tensor<37xf32>) -> tensor<13x37xf32>
    %1 = dtensor.add %x, %0 : tensor<13x37xf32>
    return %1 : tensor<13x37xf32>
  })";

/// A part of a strided array is computed, the elements around it stay.
TEST(KernelTest, PartOfAStridedArray) {
  KernelHarness kernel(biasText);
  std::vector<float> x = randomFloats(13 * 40), b = randomFloats(37, 2),
                     y(13 * 50, 7.f);
  KernelHarness::Part part{{3, 5}, {7, 30}};
  kernel.call({{x.data(), {40, 1}}, {b.data(), {1}}, {y.data(), {50, 1}}},
              &part);
  for (int i = 0; i < 13; ++i)
    for (int j = 0; j < 50; ++j) {
      bool inside = i >= 3 && i < 10 && j >= 5 && j < 35;
      EXPECT_EQ(y[i * 50 + j], inside ? x[i * 40 + j] + b[j] : 7.f);
    }
}

TEST(KernelTest, EmptyPartTouchesNothing) {
  KernelHarness kernel(biasText);
  for (KernelHarness::Part part : {KernelHarness::Part{{0, 0}, {0, 37}},
                                   KernelHarness::Part{{0, 0}, {13, 0}}})
    kernel.call({{nullptr, {37, 1}}, {nullptr, {1}}, {nullptr, {37, 1}}},
                &part);
}

/// A rolled row is read piece by piece: also a part of it that a worker has.
TEST(KernelTest, PartsOfARolledRow) {
  KernelHarness kernel(R"(
    func.func @f(%x: tensor<101xf64>) -> tensor<101xf64> {
      %zero = dtensor.constant dense<0.0> : tensor<f64>
      %index = dtensor.iota dim 0 : tensor<101xi32>
      %three = dtensor.constant dense<3> : tensor<101xi32>
      %isFirst = dtensor.compare LT, %index, %three : (tensor<101xi32>, tensor<101xi32>) -> tensor<101xi1>
      %0 = dtensor.pad %x, %zero low [-98] high [98] interior [0] : (tensor<101xf64>, tensor<f64>) -> tensor<101xf64>
      %1 = dtensor.pad %x, %zero low [3] high [-3] interior [0] : (tensor<101xf64>, tensor<f64>) -> tensor<101xf64>
      %2 = dtensor.select %isFirst, %0, %1 : (tensor<101xi1>, tensor<101xf64>, tensor<101xf64>) -> tensor<101xf64>
      %3 = dtensor.subtract %x, %2 : tensor<101xf64>
      return %3 : tensor<101xf64>
    })");
  std::vector<double> x(101);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = std::sqrt(double(i));
  const size_t inputs = kernel.kernels().front()->inputs.size();
  for (auto [begin, count] : {std::pair<int64_t, int64_t>(0, 101),
                              {0, 2},
                              {1, 4},
                              {3, 98},
                              {50, 51},
                              {40, 0}}) {
    std::vector<double> y(101, 7);
    std::vector<KernelHarness::Array> arrays(inputs, {x.data(), {1}});
    arrays.push_back({y.data(), {1}});
    KernelHarness::Part part{{begin}, {count}};
    kernel.call(arrays, &part);
    for (int64_t i = 0; i < 101; ++i)
      EXPECT_EQ(y[size_t(i)], i >= begin && i < begin + count
                                  ? x[size_t(i)] - x[size_t((i + 98) % 101)]
                                  : 7);
  }
}

/// Rows that lie one behind the other are one loop; others are not.
TEST(KernelTest, ContiguousAndSeparateRows) {
  KernelHarness kernel(R"(
    func.func @f(%x: tensor<11x3xf32>, %y: tensor<11x3xf32>) -> tensor<11x3xf32> {
      %0 = dtensor.multiply %x, %y : tensor<11x3xf32>
      return %0 : tensor<11x3xf32>
    })");
  auto x = randomFloats(66), y = randomFloats(66, 2);
  for (int64_t row : {3, 5}) {
    std::vector<float> out(66, -1);
    kernel.call(
        {{x.data(), {row, 1}}, {y.data(), {3, 1}}, {out.data(), {3, 1}}});
    for (int i = 0; i < 11; ++i)
      for (int j = 0; j < 3; ++j)
        EXPECT_EQ(out[i * 3 + j], x[i * row + j] * y[i * 3 + j]);
    EXPECT_EQ(out[33], -1);
  }
}

/// Rows that are written out are loaded as vectors where they lie side by side,
/// and one by one elsewhere.
TEST(KernelTest, ShortRowsBesideAColumn) {
  KernelHarness kernel(R"(
    func.func @f(%x: tensor<50x3xi32>, %c: tensor<50x1xi32>) -> tensor<50x3xi32> {
      %0 = dtensor.broadcast_in_dim %c dims [0, 1] : (tensor<50x1xi32>) -> tensor<50x3xi32>
      %1 = dtensor.subtract %x, %0 : tensor<50x3xi32>
      return %1 : tensor<50x3xi32>
    })");
  std::vector<int32_t> x(50 * 4), column(50);
  std::iota(x.begin(), x.end(), 0);
  std::iota(column.begin(), column.end(), 1000);
  for (int64_t row : {3, 4}) {
    std::vector<int32_t> out(50 * 4, -1);
    kernel.call({{x.data(), {row, 1}},
                 {column.data(), {1, 1}},
                 {out.data(), {row, 1}}});
    for (int i = 0; i < 50; ++i)
      for (int j = 0; j < row; ++j)
        EXPECT_EQ(out[i * row + j],
                  j < 3 ? int32_t(i * row + j) - (1000 + i) : -1);
  }
}

/// Formulas are wrong for huge angles. The function that reads columns of rows
/// of two notes them, and so does the one for other rows.
TEST(KernelTest, HugeAnglesOfColumns) {
  constexpr int rows = 30000;
  KernelHarness kernel(R"(
    func.func @f(%x: tensor<30000x2xf32>) -> tensor<30000xf32> {
      %0 = dtensor.slice %x [0:30000, 0:1] : (tensor<30000x2xf32>) -> tensor<30000x1xf32>
      %1 = dtensor.slice %x [0:30000, 1:2] : (tensor<30000x2xf32>) -> tensor<30000x1xf32>
      %2 = dtensor.reshape %0 : (tensor<30000x1xf32>) -> tensor<30000xf32>
      %3 = dtensor.reshape %1 : (tensor<30000x1xf32>) -> tensor<30000xf32>
      %4 = dtensor.sine %2 : tensor<30000xf32>
      %5 = dtensor.cosine %3 : tensor<30000xf32>
      %6 = dtensor.add %4, %5 : tensor<30000xf32>
      return %6 : tensor<30000xf32>
    })");
  for (int64_t row : {2, 5})
    for (int huge : {-1, 0, 20001, rows - 1}) {
      std::vector<float> x = randomFloats(rows * size_t(row)), y(rows);
      if (huge >= 0)
        x[size_t(huge * row + huge % 2)] = 1e20f;
      kernel.call(
          {{x.data(), {row, 1}}, {x.data(), {row, 1}}, {y.data(), {1}}});
      for (int64_t i = 0; i < rows; ++i) {
        const double a = x[size_t(i * row)], b = x[size_t(i * row + 1)];
        EXPECT_NEAR(y[size_t(i)], std::sin(a) + std::cos(b), 1e-6)
            << "row " << i << " of " << row << " numbers, huge: " << huge;
      }
    }
}

TEST(KernelTest, ColumnSumsOverManyBlocks) {
  KernelHarness kernel(R"(
    func.func @f(%x: tensor<9x700xf32>) -> tensor<700xf32> {
      %0 = dtensor.reduce sum %x dims [0] : (tensor<9x700xf32>) -> tensor<700xf32>
      return %0 : tensor<700xf32>
    })");
  auto x = randomFloats(9 * 700);
  std::vector<float> sums(700, 99);
  KernelHarness::Part part{{0, 10}, {9, 600}};
  kernel.call({rowMajor(x, {9, 700}), rowMajor(sums, {700})}, &part);
  for (int j = 0; j < 700; ++j) {
    float expected = 0;
    for (int i = 0; i < 9; ++i)
      expected += x[i * 700 + j];
    if (j >= 10 && j < 610)
      EXPECT_NEAR(sums[j], expected, 1e-5);
    else
      EXPECT_EQ(sums[j], 99);
  }
}

/// No rows at all: the identity of the reduction.
/// The states of 256 columns of bytes are as many as numbers of a byte.
TEST(KernelTest, MaximaOfManyColumnsOfBytes) {
  KernelHarness kernel(R"(
    func.func @f(%x: tensor<300x300xui8>) -> tensor<300xui8> {
      %0 = dtensor.reduce max %x dims [0] : (tensor<300x300xui8>) -> tensor<300xui8>
      return %0 : tensor<300xui8>
    })");
  std::vector<uint8_t> x(300 * 300), y(300), expected(300);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = uint8_t(i * i % 251 % (1 + i % 300));
    expected[i % 300] = std::max(expected[i % 300], x[i]);
  }
  kernel.call({rowMajor(x, {300, 300}), rowMajor(y, {300})});
  EXPECT_EQ(y, expected);
}

TEST(KernelTest, ReductionOfNothingGivesTheIdentity) {
  for (auto [kind, expected] : std::vector<std::pair<std::string, float>>{
           {"sum", 0}, {"prod", 1}, {"max", -infinity}, {"min", infinity}})
    for (std::string dim : {"0", "1"}) {
      std::string result = dim == "0" ? "tensor<5xf32>" : "tensor<4xf32>";
      KernelHarness kernel("func.func @f(%x: tensor<4x5xf32>) -> " + result +
                           " { %0 = dtensor.reduce " + kind + " %x dims [" +
                           dim + "] : (tensor<4x5xf32>) -> " + result +
                           " return %0 : " + result + " }");
      std::vector<float> out(5, 42);
      KernelHarness::Part part{{0, 0}, {4, 5}};
      part.extents[dim == "0" ? 0 : 1] = 0;
      kernel.call({{nullptr, {5, 1}}, rowMajor(out, {5})}, &part);
      EXPECT_EQ(out[0], expected) << kind << " along " << dim;
    }
}

/// Tiles at the ends are short.
TEST(KernelTest, TransposeOfOddExtents) {
  KernelHarness kernel(R"(
    func.func @f(%x: tensor<37x2x21xf32>) -> tensor<21x2x37xf32> {
      %0 = dtensor.transpose %x dims [2, 1, 0] : (tensor<37x2x21xf32>) -> tensor<21x2x37xf32>
      return %0 : tensor<21x2x37xf32>
    })");
  auto x = randomFloats(37 * 42);
  std::vector<float> y(37 * 42);
  kernel.call({rowMajor(x, {37, 2, 21}), rowMajor(y, {21, 2, 37})});
  for (int i = 0; i < 37; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 21; ++k)
        ASSERT_EQ(y[(k * 2 + j) * 37 + i], x[(i * 2 + j) * 21 + k]);
}

/// Transposes [41, 83] elements: all of them, and parts of which one is smaller
/// than the boxes that are turned around in registers.
template <typename T> static void expectTransposed(const std::string &type) {
  const std::string from = "tensor<41x83x" + type + ">",
                    to = "tensor<83x41x" + type + ">";
  KernelHarness kernel("func.func @f(%x: " + from + ") -> " + to +
                       " { %0 = dtensor.transpose %x dims [1, 0] : (" + from +
                       ") -> " + to + " return %0 : " + to + " }");
  std::vector<T> x(41 * 83);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = T(1 + i * 31 % 113);
  for (const KernelHarness::Part &part :
       {KernelHarness::Part{{0, 0}, {83, 41}},
        KernelHarness::Part{{5, 2}, {71, 37}},
        KernelHarness::Part{{80, 3}, {3, 5}}}) {
    std::vector<T> y(x.size());
    kernel.call({rowMajor(x, {41, 83}), rowMajor(y, {83, 41})}, &part);
    for (int64_t i = 0; i < 83; ++i)
      for (int64_t j = 0; j < 41; ++j) {
        const int64_t row = i - part.origin[0], column = j - part.origin[1];
        const bool isInside = row >= 0 && row < part.extents[0] &&
                              column >= 0 && column < part.extents[1];
        ASSERT_EQ(y[i * 41 + j], isInside ? x[j * 83 + i] : T(0))
            << type << " at " << i << ", " << j;
      }
  }
}

TEST(KernelTest, TransposesOfAllWidths) {
  expectTransposed<int8_t>("i8");
  expectTransposed<int16_t>("i16");
  expectTransposed<float>("f32");
  expectTransposed<double>("f64");
}

/// Elements of a line are put side by side first: two whole runs, then a short
/// one.
TEST(KernelTest, MathOfATransposedOperand) {
  KernelHarness kernel(R"(
    func.func @f(%x: tensor<150x21xf32>, %y: tensor<21x150xf32>) -> tensor<21x150xf32> {
      %0 = dtensor.transpose %x dims [1, 0] : (tensor<150x21xf32>) -> tensor<21x150xf32>
      %1 = dtensor.exp %0 : tensor<21x150xf32>
      %2 = dtensor.tanh %1 : tensor<21x150xf32>
      %3 = dtensor.add %2, %y : tensor<21x150xf32>
      return %3 : tensor<21x150xf32>
    })");
  auto x = randomFloats(150 * 21), y = randomFloats(150 * 21, 2);
  std::vector<float> out(150 * 21);
  kernel.call({rowMajor(x, {150, 21}), rowMajor(y, {21, 150}),
               rowMajor(out, {21, 150})});
  for (int i = 0; i < 21; ++i)
    for (int j = 0; j < 150; ++j)
      ASSERT_NEAR(out[i * 150 + j],
                  std::tanh(std::exp(x[j * 21 + i])) + y[i * 150 + j], 2e-6);
}

TEST(KernelTest, MaximumIsNanWhereAnElementIs) {
  KernelHarness kernel(R"(
    func.func @f(%x: tensor<3x19xf32>) -> tensor<3xf32> {
      %0 = dtensor.reduce max %x dims [1] : (tensor<3x19xf32>) -> tensor<3xf32>
      return %0 : tensor<3xf32>
    })");
  auto x = randomFloats(57);
  x[25] = nan;
  x[40] = 8;
  std::vector<float> out(3);
  kernel.call({rowMajor(x, {3, 19}), rowMajor(out, {3})});
  EXPECT_EQ(out[0], *std::max_element(x.begin(), x.begin() + 19));
  EXPECT_TRUE(std::isnan(out[1]));
  EXPECT_EQ(out[2], 8);
}

/// The first of equals wins, and the first nan over everything.
TEST(KernelTest, ArgmaxAndArgmin) {
  KernelHarness kernel(R"(
    func.func @f(%x: tensor<4x6xf32>) -> tensor<4xi64> {
      %0 = dtensor.argmax %x dim 1 : (tensor<4x6xf32>) -> tensor<4xi64>
      return %0 : tensor<4xi64>
    })");
  std::vector<float> x{
      1,         5,         2,         5,         0,         4, //
      -3,        -1,        nan,       9,         nan,       0, //
      -infinity, -infinity, -infinity, -infinity, -infinity,
      -infinity, //
      0,         0,         0,         0,         0,         infinity};
  std::vector<int64_t> out(4);
  kernel.call({rowMajor(x, {4, 6}), rowMajor(out, {4})});
  EXPECT_EQ(out, (std::vector<int64_t>{1, 2, 0, 5}));

  KernelHarness columns(R"(
    func.func @f(%x: tensor<4x3xui8>) -> tensor<3xi32> {
      %0 = dtensor.argmin %x dim 0 : (tensor<4x3xui8>) -> tensor<3xi32>
      return %0 : tensor<3xi32>
    })");
  std::vector<uint8_t> bytes{200, 1, 3, 7, 255, 3, 199, 0, 3, 7, 0, 2};
  std::vector<int32_t> least(3);
  columns.call({rowMajor(bytes, {4, 3}), rowMajor(least, {3})});
  EXPECT_EQ(least, (std::vector<int32_t>{1, 2, 3}));
}

/// Long rows are reduced in chains; so many elements that some are behind the
/// last whole step of all chains.
TEST(KernelTest, ArgminOfLongRows) {
  KernelHarness kernel(R"(
    func.func @f(%x: tensor<9x77xf32>) -> tensor<9xi32> {
      %0 = dtensor.argmin %x dim 1 : (tensor<9x77xf32>) -> tensor<9xi32>
      return %0 : tensor<9xi32>
    })");
  std::vector<float> x(9 * 77, 5);
  const std::vector<std::vector<int>> least{
      {0}, {1, 33}, {63, 64}, {31, 63}, {76}, {40, 8}, {65, 2}, {32, 64}, {}};
  std::vector<int32_t> expected;
  for (int i = 0; i < 9; ++i) {
    for (int j : least[i])
      x[i * 77 + j] = i < 5 ? -1.F : nan;
    expected.push_back(
        least[i].empty() ? 0
                         : *std::min_element(least[i].begin(), least[i].end()));
  }
  std::vector<int32_t> out(9);
  kernel.call({rowMajor(x, {9, 77}), rowMajor(out, {9})});
  EXPECT_EQ(out, expected);
}

TEST(KernelTest, BF16RoundsEachOpAndSumsInF32) {
  KernelHarness add(R"(
    func.func @f(%x: tensor<33xbf16>, %y: tensor<33xbf16>) -> tensor<33xbf16> {
      %0 = dtensor.add %x, %y : tensor<33xbf16>
      %1 = dtensor.multiply %0, %y : tensor<33xbf16>
      return %1 : tensor<33xbf16>
    })");
  auto a = randomFloats(33), b = randomFloats(33, 2);
  std::vector<uint16_t> x, y, out(33);
  for (int i = 0; i < 33; ++i) {
    x.push_back(toBF16(a[i]));
    y.push_back(toBF16(b[i]));
  }
  x[4] = toBF16(infinity);
  std::vector<uint16_t> expected;
  for (int i = 0; i < 33; ++i) {
    float sum = fromBF16(toBF16(fromBF16(x[i]) + fromBF16(y[i])));
    expected.push_back(toBF16(sum * fromBF16(y[i])));
  }
  add.call({rowMajor(x, {33}), rowMajor(y, {33}), rowMajor(out, {33})});
  EXPECT_EQ(out, expected);
}

/// 1000 times 1 is 1000; added up in bf16 it would stop at 256.
TEST(KernelTest, SumOfManyBF16) {
  for (std::string dim : {"0", "1"}) {
    std::string shape = dim == "0" ? "1000x3" : "3x1000";
    KernelHarness kernel("func.func @f(%x: tensor<" + shape +
                         "xbf16>) -> tensor<3xbf16> { %0 = dtensor.reduce sum "
                         "%x dims [" +
                         dim + "] : (tensor<" + shape +
                         "xbf16>) -> tensor<3xbf16> return %0 : "
                         "tensor<3xbf16> }");
    std::vector<uint16_t> x(3000, toBF16(1)), out(3);
    kernel.call({rowMajor(x, dim == "0" ? std::vector<int64_t>{1000, 3}
                                        : std::vector<int64_t>{3, 1000}),
                 rowMajor(out, {3})});
    EXPECT_EQ(fromBF16(out[2]), 1000);
  }
}

TEST(KernelTest, BooleansAreBytes) {
  KernelHarness kernel(R"(
    func.func @f(%x: tensor<21xf32>, %m: tensor<21xi1>) -> tensor<21xi1> {
      %c = dtensor.constant dense<0.0> : tensor<21xf32>
      %0 = dtensor.compare GT, %x, %c : (tensor<21xf32>, tensor<21xf32>) -> tensor<21xi1>
      %1 = dtensor.xor %0, %m : tensor<21xi1>
      return %1 : tensor<21xi1>
    })");
  auto x = randomFloats(21);
  std::vector<uint8_t> mask(21), out(21, 9);
  for (int i = 0; i < 21; ++i)
    mask[i] = i % 3 == 0;
  kernel.call({rowMajor(x, {21}), rowMajor(mask, {21}), rowMajor(out, {21})});
  for (int i = 0; i < 21; ++i)
    EXPECT_EQ(out[i], (x[i] > 0) != (i % 3 == 0));
}

TEST(KernelTest, IntegerDivisionNeverTraps) {
  KernelHarness kernel(R"(
    func.func @f(%a: tensor<6xi32>, %b: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>) {
      %0 = dtensor.divide %a, %b : tensor<6xi32>
      %1 = dtensor.remainder %a, %b : tensor<6xi32>
      return %0, %1 : tensor<6xi32>, tensor<6xi32>
    })");
  constexpr int32_t low = std::numeric_limits<int32_t>::min();
  std::vector<int32_t> a{7, -7, 5, low, -8, low}, b{0, 2, -3, -1, 3, 0},
      quotient(6), rest(6);
  kernel.call({rowMajor(a, {6}), rowMajor(b, {6}), rowMajor(quotient, {6}),
               rowMajor(rest, {6})});
  EXPECT_EQ(quotient, (std::vector<int32_t>{-1, -3, -1, low, -2, -1}));
  EXPECT_EQ(rest, (std::vector<int32_t>{7, -1, 2, 0, -2, low}));
}

TEST(KernelTest, UnsignedComparisonAndDivision) {
  KernelHarness kernel(R"(
    func.func @f(%a: tensor<4xui32>, %b: tensor<4xui32>) -> (tensor<4xui32>, tensor<4xui32>, tensor<4xf32>) {
      %0 = dtensor.divide %a, %b : tensor<4xui32>
      %1 = dtensor.maximum %a, %b : tensor<4xui32>
      %2 = dtensor.convert %a : (tensor<4xui32>) -> tensor<4xf32>
      return %0, %1, %2 : tensor<4xui32>, tensor<4xui32>, tensor<4xf32>
    })");
  std::vector<uint32_t> a{0xffffffff, 3, 0, 0x80000000}, b{2, 0, 0, 0xffffffff},
      quotient(4), most(4);
  std::vector<float> floats(4);
  kernel.call({rowMajor(a, {4}), rowMajor(b, {4}), rowMajor(quotient, {4}),
               rowMajor(most, {4}), rowMajor(floats, {4})});
  EXPECT_EQ(quotient,
            (std::vector<uint32_t>{0x7fffffff, 0xffffffff, 0xffffffff, 0}));
  EXPECT_EQ(most, (std::vector<uint32_t>{0xffffffff, 3, 0, 0xffffffff}));
  EXPECT_EQ(floats, (std::vector<float>{4294967296.f, 3, 0, 2147483648.f}));
}

TEST(KernelTest, IntegerPower) {
  KernelHarness kernel(R"(
    func.func @f(%a: tensor<7xi32>, %b: tensor<7xi32>) -> tensor<7xi32> {
      %0 = dtensor.power %a, %b : tensor<7xi32>
      %1 = dtensor.not %0 : tensor<7xi32>
      return %1 : tensor<7xi32>
    })");
  std::vector<int32_t> a{3, -2, 0, 1, -1, 5, 10}, b{4, 5, 0, -3, -3, -1, 10};
  std::vector<int32_t> out(7);
  kernel.call({rowMajor(a, {7}), rowMajor(b, {7}), rowMajor(out, {7})});
  EXPECT_EQ(out,
            (std::vector<int32_t>{~81, ~-32, ~1, ~1, ~-1, ~0, ~1410065408}));
}

TEST(KernelTest, ConvertSaturates) {
  KernelHarness kernel(R"(
    func.func @f(%x: tensor<8xf32>) -> (tensor<8xi8>, tensor<8xi32>, tensor<8xui8>, tensor<8xi64>, tensor<8xi1>) {
      %0 = dtensor.convert %x : (tensor<8xf32>) -> tensor<8xi8>
      %1 = dtensor.convert %x : (tensor<8xf32>) -> tensor<8xi32>
      %2 = dtensor.convert %x : (tensor<8xf32>) -> tensor<8xui8>
      %3 = dtensor.convert %x : (tensor<8xf32>) -> tensor<8xi64>
      %4 = dtensor.convert %x : (tensor<8xf32>) -> tensor<8xi1>
      return %0, %1, %2, %3, %4 : tensor<8xi8>, tensor<8xi32>, tensor<8xui8>, tensor<8xi64>, tensor<8xi1>
    })");
  std::vector<float> x{1.9f, -1.9f, 300, -300, nan, infinity, -infinity, -0.f};
  std::vector<int8_t> i8(8);
  std::vector<int32_t> i32(8);
  std::vector<uint8_t> u8(8), boolean(8);
  std::vector<int64_t> i64(8);
  kernel.call({rowMajor(x, {8}), rowMajor(i8, {8}), rowMajor(i32, {8}),
               rowMajor(u8, {8}), rowMajor(i64, {8}), rowMajor(boolean, {8})});
  using Limits32 = std::numeric_limits<int32_t>;
  using Limits64 = std::numeric_limits<int64_t>;
  EXPECT_EQ(i8, (std::vector<int8_t>{1, -1, 127, -128, 0, 127, -128, 0}));
  EXPECT_EQ(i32, (std::vector<int32_t>{1, -1, 300, -300, 0, Limits32::max(),
                                       Limits32::min(), 0}));
  EXPECT_EQ(u8, (std::vector<uint8_t>{1, 0, 255, 0, 0, 255, 0, 0}));
  EXPECT_EQ(i64, (std::vector<int64_t>{1, -1, 300, -300, 0, Limits64::max(),
                                       Limits64::min(), 0}));
  EXPECT_EQ(boolean, (std::vector<uint8_t>{1, 1, 1, 1, 1, 1, 1, 0}));
}

/// 1 + 2^-8 is halfway between two bf16; a little more rounds up, although f32
/// cannot tell the two apart.
TEST(KernelTest, ConvertToBF16RoundsOnce) {
  KernelHarness kernel(R"(
    func.func @f(%x: tensor<6xf64>, %i: tensor<3xi32>) -> (tensor<6xbf16>, tensor<3xbf16>) {
      %0 = dtensor.convert %x : (tensor<6xf64>) -> tensor<6xbf16>
      %1 = dtensor.convert %i : (tensor<3xi32>) -> tensor<3xbf16>
      return %0, %1 : tensor<6xbf16>, tensor<3xbf16>
    })");
  double half = 1 + 0x1p-8;
  std::vector<double> x{
      half,   half + 0x1p-40, half - 0x1p-40,
      -1e300, 1e-320,         std::numeric_limits<double>::quiet_NaN()};
  std::vector<uint16_t> y(6), z(3);
  std::vector<int32_t> i{(257 << 16) + 1, 257 << 16, -3};
  kernel.call(*kernel.kernels()[0], {rowMajor(x, {6}), rowMajor(y, {6})});
  kernel.call(*kernel.kernels()[1], {rowMajor(i, {3}), rowMajor(z, {3})});
  EXPECT_EQ(fromBF16(y[0]), 1);
  EXPECT_EQ(fromBF16(y[1]), 1 + 0x1p-7f);
  EXPECT_EQ(fromBF16(y[2]), 1);
  EXPECT_EQ(fromBF16(y[3]), -infinity);
  EXPECT_EQ(fromBF16(y[4]), 0);
  EXPECT_TRUE(std::isnan(fromBF16(y[5])));
  EXPECT_EQ(fromBF16(z[0]), 258 << 16);
  EXPECT_EQ(fromBF16(z[1]), 256 << 16);
  EXPECT_EQ(fromBF16(z[2]), -3);
}

/// Random123's known answers for Philox4x32-10 (kat_vectors).
TEST(KernelTest, PhiloxKnownAnswers) {
  KernelHarness kernel(R"(
    func.func @f(%seed: tensor<2xui32>) -> tensor<8xui32> {
      %0 = dtensor.rng uniform_bits %seed : (tensor<2xui32>) -> tensor<8xui32>
      return %0 : tensor<8xui32>
    })");
  std::vector<uint32_t> seed{0, 0}, out(8);
  kernel.call({rowMajor(seed, {2}), rowMajor(seed, {2}), rowMajor(out, {8})});
  EXPECT_EQ(out[0], 0x6627e8d5u);
  EXPECT_EQ(out[1], 0xe169c58du);
  EXPECT_EQ(out[2], 0xbc57ac4cu);
  EXPECT_EQ(out[3], 0x9b00dbd8u);
  // A part of the array has the numbers of its global indices.
  std::vector<uint32_t> part(8);
  KernelHarness::Part tail{{3}, {5}};
  kernel.call({rowMajor(seed, {2}), rowMajor(seed, {2}), rowMajor(part, {8})},
              &tail);
  for (int i = 3; i < 8; ++i)
    EXPECT_EQ(part[i], out[i]);
}

/// An exact small f64 matrix product by a generated kernel, transposed operand
/// too.
TEST(KernelTest, DoubleMatrixProduct) {
  for (bool transposed : {false, true}) {
    std::string rhs = transposed ? "tensor<201x5xf64>" : "tensor<5x201xf64>";
    KernelHarness kernel("func.func @f(%a: tensor<3x5xf64>, %b: " + rhs +
                         ") -> tensor<3x201xf64> { %0 = dtensor.dot_general "
                         "%a, %b contracting [1] x [" +
                         (transposed ? "1" : "0") + "] : (tensor<3x5xf64>, " +
                         rhs +
                         ") -> tensor<3x201xf64> return %0 : "
                         "tensor<3x201xf64> }");
    std::vector<double> a(15), b(5 * 201), c(3 * 201);
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = double(i) - 6;
    for (size_t i = 0; i < b.size(); ++i)
      b[i] = double(i % 17) - 8;
    std::vector<int64_t> shape = transposed ? std::vector<int64_t>{201, 5}
                                            : std::vector<int64_t>{5, 201};
    kernel.call(
        {rowMajor(a, {3, 5}), rowMajor(b, shape), rowMajor(c, {3, 201})});
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 201; ++j) {
        double sum = 0;
        for (int k = 0; k < 5; ++k)
          sum += a[i * 5 + k] * (transposed ? b[j * 5 + k] : b[k * 201 + j]);
        EXPECT_EQ(c[i * 201 + j], sum);
      }
  }
}

/// The library computes batches of small products of all types; a single one
/// is a kernel.
TEST(KernelTest, BatchesOfSmallProductsAreNoKernels) {
  for (const std::string type : {"i32", "f64", "complex<f32>", "complex<f64>"})
    for (int64_t batch : {1, 40}) {
      const std::string array =
          "tensor<" + std::to_string(batch) + "x4x4x" + type + ">";
      const KernelHarness kernel(
          "func.func @f(%a: " + array + ", %b: " + array + ") -> " + array +
          " { %0 = dtensor.dot_general %a, %b batching [0] x [0] contracting "
          "[2] x [1] : (" +
          array + ", " + array + ") -> " + array + " return %0 : " + array +
          " }");
      EXPECT_EQ(kernel.kernels().empty(), batch == 40) << array;
    }
}

/// The new value overwrites the old one, which has no operand of its own.
TEST(KernelTest, InPlaceOverAnAliasedArgument) {
  KernelHarness kernel(R"(
    func.func @f(%w: tensor<7x3xf32> {dtensor.alias = 0 : i64}, %g: tensor<7x3xf32>) -> tensor<7x3xf32> {
      %0 = dtensor.subtract %w, %g : tensor<7x3xf32>
      return %0 : tensor<7x3xf32>
    })");
  auto w = randomFloats(21), g = randomFloats(21, 2), old = w;
  KernelHarness::Part part{{2, 0}, {4, 3}};
  kernel.call({rowMajor(w, {7, 3}), rowMajor(g, {7, 3})}, &part);
  for (int i = 0; i < 21; ++i)
    EXPECT_EQ(w[i], i >= 6 && i < 18 ? old[i] - g[i] : old[i]);
}

/// Rows of any length end where they end: loops with long bodies are vector
/// loops with a mask for the last elements.
TEST(KernelTest, LastElementsOfALongBody) {
  KernelHarness kernel(R"(
    func.func @f(%x: tensor<2x40xf32>, %w: tensor<2x40xf32> {dtensor.alias = 0 : i64}) -> (tensor<2x40xf32>, tensor<2x40xf32>) {
      %0 = dtensor.exp %x : tensor<2x40xf32>
      %1 = dtensor.tanh %0 : tensor<2x40xf32>
      %2 = dtensor.multiply %w, %1 : tensor<2x40xf32>
      return %2, %0 : tensor<2x40xf32>, tensor<2x40xf32>
    })");
  for (int64_t length : {1, 15, 16, 17, 32, 39}) {
    std::vector<float> x = randomFloats(80), w = randomFloats(80, 2), old = w,
                       y(80, 7.f);
    KernelHarness::Part part{{0, 0}, {2, length}};
    kernel.call(
        {rowMajor(x, {2, 40}), rowMajor(w, {2, 40}), rowMajor(y, {2, 40})},
        &part);
    for (int i = 0; i < 80; ++i) {
      const bool inside = i % 40 < length;
      EXPECT_NEAR(y[i], inside ? std::exp(x[i]) : 7.f, 1e-6) << length;
      EXPECT_NEAR(w[i], inside ? old[i] * std::tanh(std::exp(x[i])) : old[i],
                  1e-6)
          << length;
    }
  }
}

/// Kernels that differ in extents and buffers only are one function, also in
/// another program. Short innermost loops are written out, and so differ.
TEST(KernelTest, EqualKernelsShareCode) {
  auto text = [](const std::string &type) {
    return "func.func @f(%x: " + type + ", %y: " + type + ") -> (" + type +
           ", " + type + ") { %0 = dtensor.exp %x : " + type +
           " %1 = dtensor.exp %y : " + type + " return %0, %1 : " + type +
           ", " + type + "}";
  };
  KernelHarness one(text("tensor<8x50xf32>")), other(text("tensor<9x700xf32>"));
  for (const KernelStep *kernel : one.kernels())
    EXPECT_EQ(kernel->symbol, one.kernels().front()->symbol);
  EXPECT_EQ(one.kernels().front()->symbol, other.kernels().front()->symbol);
}

/// Without optimisation the code is another, the numbers are the same.
TEST(KernelTest, QuickCompilation) {
  for (bool optimize : {false, true}) {
    KernelHarness kernel(biasText, optimize);
    std::vector<float> x = randomFloats(13 * 37), b = randomFloats(37, 2),
                       y(13 * 37);
    kernel.call(
        {rowMajor(x, {13, 37}), rowMajor(b, {37}), rowMajor(y, {13, 37})});
    EXPECT_EQ(y[100], x[100] + b[100 % 37]);
  }
}
} // namespace
