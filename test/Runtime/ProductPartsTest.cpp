// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which parts of a product are left out: blocks of zeros, and what nobody
// reads; and that the result is what it would be with them.
#include "meshloom/Runtime/HalfFloats.h"

#include "../../lib/Runtime/Library/Dot.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

using namespace meshloom;
using namespace meshloom::library;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {
constexpr float infinity = std::numeric_limits<float>::infinity();

/// A product of [m, k] with [k, n], small integers, and what its operands are.
struct Product {
  Product(int64_t m, int64_t n, int64_t k)
      : m(m), n(n), k(k), lhs(size_t(m * k)), rhs(size_t(k * n)) {
    for (size_t i = 0; i < lhs.size(); ++i)
      lhs[i] = float(int(i * 7 % 11) - 5) + 0.5F;
    for (size_t i = 0; i < rhs.size(); ++i)
      rhs[i] = float(int(i * 5 % 13) - 6);
    step.loops = {{m, false, {}}, {n, false, {}}, {k, true, {}}};
    step.lhs.dims = {{0, {{0, 1}}}, {0, {{2, 1}}}};
    step.rhs.dims = {{0, {{2, 1}}}, {0, {{1, 1}}}};
    step.out.dims = {{0, {{0, 1}}}, {0, {{1, 1}}}};
  }

  Contraction contraction() const {
    return {{m, {k, 0, n}}, {n, {0, 1, 1}}, {k, {1, n, 0}}, {}, k};
  }
  std::vector<ProductPart> parts() const {
    return productParts(DType::F32, lhs.data(), rhs.data(), contraction(),
                        std::nullopt);
  }
  /// Term by term.
  float expected(int64_t r, int64_t c) const {
    float sum = 0;
    for (int64_t i = 0; i < k; ++i)
      sum += lhs[size_t(r * k + i)] * rhs[size_t(i * n + c)];
    return sum;
  }
  std::vector<float> run(const int64_t *origin = nullptr) const {
    std::vector<float> out(size_t(m * n), -7);
    const std::array<int64_t, 3> extents{m, n, k}, l{k, 0, 1}, t{0, 1, n},
        o{n, 1, 0};
    EXPECT_TRUE(Dot(step).run(lhs.data(), rhs.data(), out.data(),
                              extents.data(), {l.data(), t.data(), o.data()},
                              origin));
    return out;
  }
  /// Whether the result is that of all terms, nan for nan.
  void check() const {
    const std::vector<float> out = run();
    for (int64_t r = 0; r < m; ++r)
      for (int64_t c = 0; c < n; ++c) {
        const float mine = out[size_t(r * n + c)], wanted = expected(r, c);
        ASSERT_TRUE(mine == wanted || (std::isnan(mine) && std::isnan(wanted)))
            << r << ", " << c << ": " << mine << ", expected " << wanted;
      }
  }

  int64_t m, n, k;
  std::vector<float> lhs, rhs;
  DotStep step;
};

/// Zeros above the diagonal: what a causal mask leaves of weights.
Product causal() {
  Product product(300, 24, 400);
  for (int64_t r = 0; r < product.m; ++r)
    for (int64_t i = r + 1; i < product.k; ++i)
      product.lhs[size_t(r * product.k + i)] = i % 2 ? 0.F : -0.F;
  return product;
}

// Rows that have terms of other blocks are parts of their own, from the first
// block that is not zero to the last one.
TEST(ProductPartsTest, ZeroBlocksOfTheLeftOperand) {
  Product product = causal();
  EXPECT_THAT(product.parts(),
              ElementsAre(ProductPart{{0, 128}, {0, 24}, {0, 128}},
                          ProductPart{{128, 256}, {0, 24}, {0, 256}},
                          ProductPart{{256, 300}, {0, 24}, {0, 384}}));
  product.check();
  // A window: the first blocks are zero as well, and of some rows all.
  for (int64_t r = 128; r < 300; ++r)
    std::fill_n(&product.lhs[size_t(r * 400)], r < 256 ? 128 : 400, 0.F);
  EXPECT_THAT(product.parts(),
              ElementsAre(ProductPart{{0, 128}, {0, 24}, {0, 128}},
                          ProductPart{{128, 256}, {0, 24}, {128, 256}},
                          ProductPart{{256, 300}, {0, 24}, {}}));
  product.check();
}

TEST(ProductPartsTest, ZeroBlocksOfTheRightOperand) {
  Product product(24, 300, 400);
  for (int64_t i = 0; i < 400; ++i)
    for (int64_t c = i + 1; c < 300; ++c)
      product.rhs[size_t(i * 300 + c)] = 0;
  EXPECT_THAT(product.parts(),
              ElementsAre(ProductPart{{0, 24}, {0, 128}, {0, 400}},
                          ProductPart{{0, 24}, {128, 256}, {128, 400}},
                          ProductPart{{0, 24}, {256, 300}, {256, 400}}));
  product.check();
}

// Without zero blocks a product is one, as are those for which looking for them
// does not pay.
TEST(ProductPartsTest, OtherProductsAreOne) {
  EXPECT_THAT(Product(300, 24, 400).parts(), IsEmpty());
  EXPECT_THAT(Product(300, 24, 200).parts(), IsEmpty());
  Product zeros(300, 8, 400);
  std::ranges::fill(zeros.lhs, 0.F);
  EXPECT_THAT(zeros.parts(), IsEmpty());
}

// A zero times an infinity is nan: it is added as ever.
TEST(ProductPartsTest, TermsThatMeetInfinitiesAreNotSkipped) {
  for (float value : {infinity, -infinity, std::nanf("")}) {
    Product product = causal();
    product.rhs[size_t(200 * 24 + 3)] = value;
    EXPECT_THAT(product.parts(),
                ElementsAre(ProductPart{{0, 256}, {0, 24}, {0, 256}},
                            ProductPart{{256, 300}, {0, 24}, {0, 384}}));
    product.check();
  }
}

TEST(ProductPartsTest, NarrowFloats) {
  const Product product = causal();
  for (DType type : {DType::BF16, DType::F16}) {
    auto narrow = [&](const std::vector<float> &from) {
      std::vector<uint16_t> to;
      to.reserve(from.size());
      for (float value : from)
        to.push_back(type == DType::BF16 ? BF16::narrow(value)
                                         : F16::narrow(value));
      return to;
    };
    const std::vector<uint16_t> lhs = narrow(product.lhs);
    std::vector<uint16_t> rhs = narrow(product.rhs);
    auto parts = [&] {
      return productParts(type, lhs.data(), rhs.data(), product.contraction(),
                          std::nullopt);
    };
    EXPECT_EQ(parts(), product.parts());
    rhs[200 * 24] = narrow({infinity}).front();
    EXPECT_EQ(parts().size(), 2U);
  }
}

// An element of a result that is read has its value, and the others are zero or
// have theirs, too. Indices count from the origin.
TEST(ProductPartsTest, ElementsThatNobodyReadsAreNotComputed) {
  Product product(200, 420, 20);
  const std::array<int64_t, 3> origin{100, 0, 0};
  struct Case {
    int64_t row, column, offset, nonzero;
  };
  // `nonzero` counts the elements that are computed. Rows 0 to 127, then 128 to
  // 199.
  for (auto [row, column, offset, nonzero] :
       {Case{1, -1, 0, 128 * 228 + 72 * 300},   // c <= r + 100
        Case{-1, 1, 100, 128 * 420 + 72 * 292}, // c >= r
        Case{1, -2, -100, 128 * 64 + 72 * 100}, // 2 c <= r
        Case{0, 1, -400, 200 * 20},             // c >= 400
        Case{1, 0, -300, 0}}) {                 // r >= 200
    product.step.readWhere = DimAccess{offset, {{0, row}, {1, column}}};
    const std::vector<float> out = product.run(origin.data());
    int64_t computed = 0;
    for (int64_t r = 0; r < product.m; ++r)
      for (int64_t c = 0; c < product.n; ++c) {
        const float mine = out[size_t(r * product.n + c)];
        const float wanted = product.expected(r, c);
        computed += mine != 0 || wanted == 0;
        if (row * (r + 100) + column * c + offset >= 0)
          ASSERT_EQ(mine, wanted) << r << ", " << c;
        else
          ASSERT_TRUE(mine == 0 || mine == wanted) << r << ", " << c;
      }
    int64_t zeros = 0;
    for (int64_t r = 0; r < product.m; ++r)
      for (int64_t c = 0; c < product.n; ++c)
        zeros += product.expected(r, c) == 0;
    EXPECT_GE(computed, nonzero);
    EXPECT_LE(computed, nonzero + zeros);
  }
}

// Rows of two loops have no one index: all of the result is computed.
TEST(ProductPartsTest, RowsOfSeveralLoopsAreAllComputed) {
  Product product(8, 420, 20);
  product.step.loops = {
      {2, false, {}}, {4, false, {}}, {420, false, {}}, {20, true, {}}};
  product.step.lhs.dims = {{0, {{0, 1}}}, {0, {{1, 1}}}, {0, {{3, 1}}}};
  product.step.rhs.dims = {{0, {{3, 1}}}, {0, {{2, 1}}}};
  product.step.out.dims = {{0, {{0, 1}}}, {0, {{1, 1}}}, {0, {{2, 1}}}};
  product.step.readWhere = DimAccess{0, {{0, 1}, {2, -1}}};
  std::vector<float> out(8 * 420, -7);
  const std::array<int64_t, 4> extents{2, 4, 420, 20}, l{80, 20, 0, 1},
      t{0, 0, 1, 420}, o{4 * 420, 420, 1, 0};
  ASSERT_TRUE(Dot(product.step)
                  .run(product.lhs.data(), product.rhs.data(), out.data(),
                       extents.data(), {l.data(), t.data(), o.data()}));
  for (int64_t r = 0; r < 8; ++r)
    for (int64_t c = 0; c < 420; ++c)
      ASSERT_EQ(out[size_t(r * 420 + c)], product.expected(r, c));
}
} // namespace
