// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of any loops as cuBLASLt takes them.
#include "../../../lib/Runtime/Backends/CUDA/MatrixProduct.h"

#include <gtest/gtest.h>

using namespace meshloom;
using namespace meshloom::cuda;

namespace {
using Strides = std::vector<int64_t>;

std::optional<MatrixProduct> productOf(const std::string &loops,
                                       const Strides &extents,
                                       const Strides &lhs, const Strides &rhs,
                                       const Strides &out) {
  return MatrixProduct::of({DType::F32, loops}, extents, {lhs, rhs, out},
                           {16, 8, 4});
}

// Arrays are row by row: the library computes the transposed result.
TEST(MatrixProductTest, OperandsAreSwappedForResultsRowByRow) {
  const auto product =
      productOf("mnk", {2, 3, 5}, {5, 0, 1}, {0, 1, 3}, {3, 1, 0});
  ASSERT_TRUE(product);
  EXPECT_EQ(*product, (MatrixProduct{.type = DType::F32,
                                     .rows = 3,
                                     .columns = 2,
                                     .terms = 5,
                                     .a = {.pitch = 3, .alignment = 8},
                                     .b = {.pitch = 5, .alignment = 16},
                                     .out = {.pitch = 3, .alignment = 4},
                                     .swapsOperands = true}));
}

TEST(MatrixProductTest, OperandsMayBeTransposed) {
  const auto product =
      productOf("mnk", {2, 3, 5}, {1, 0, 2}, {0, 5, 1}, {1, 2, 0});
  ASSERT_TRUE(product);
  EXPECT_FALSE(product->swapsOperands);
  EXPECT_FALSE(product->a.isTransposed);
  EXPECT_FALSE(product->b.isTransposed);
  const auto other =
      productOf("mnk", {2, 3, 5}, {5, 0, 1}, {0, 1, 3}, {1, 2, 0});
  ASSERT_TRUE(other);
  EXPECT_TRUE(other->a.isTransposed);
  EXPECT_TRUE(other->b.isTransposed);
}

// Rows of two loops are one loop where the second goes on with the first.
TEST(MatrixProductTest, LoopsOfAKindAreMerged) {
  const auto product = productOf("bmmnk", {7, 2, 4, 3, 5}, {40, 20, 5, 0, 1},
                                 {15, 0, 0, 1, 3}, {24, 12, 3, 1, 0});
  ASSERT_TRUE(product);
  EXPECT_EQ(product->columns, 8);
  EXPECT_EQ(product->batches, 7);
  EXPECT_EQ(product->out.batchStride, 24);
  EXPECT_EQ(product->a.batchStride, 15);
  EXPECT_EQ(product->b.batchStride, 40);
}

TEST(MatrixProductTest, OtherOperandsAreRefused) {
  // The rows of two loops have a gap between them.
  EXPECT_FALSE(productOf("mmnk", {2, 4, 3, 5}, {25, 5, 0, 1}, {0, 0, 1, 3},
                         {12, 3, 1, 0}));
  // Neither terms nor rows are neighbours.
  EXPECT_FALSE(productOf("mnk", {2, 3, 5}, {20, 0, 2}, {0, 1, 3}, {3, 1, 0}));
  // A matrix whose rows overlap.
  EXPECT_FALSE(productOf("mnk", {2, 3, 5}, {4, 0, 1}, {0, 1, 3}, {3, 1, 0}));
  // There is no term.
  EXPECT_FALSE(productOf("mnk", {2, 3, 0}, {5, 0, 1}, {0, 1, 3}, {3, 1, 0}));
}

// A bias is one number for each row, as the library sees the result, and gelu's
// operands lie as the result does.
TEST(MatrixProductTest, Epilogues) {
  constexpr auto gelu = ProductEpilogue::Form::Gelu;
  const Strides extents{2, 8, 5}, out{8, 1, 0};
  auto isPossible = [&](MatrixProduct::Epilogue epilogue, const Strides &bias,
                        const Strides &auxiliary, const Strides &sum = {}) {
    auto product = productOf("mnk", extents, {5, 0, 1}, {0, 1, 8}, out);
    return product->setEpilogue(epilogue, {DType::F32, "mnk", {}}, extents,
                                {out, bias, auxiliary, sum}) &&
           product->epilogue == epilogue;
  };
  EXPECT_TRUE(isPossible({gelu, 4, 16}, {0, 1, 0}, {8, 1, 0}));
  EXPECT_TRUE(isPossible({gelu, 0, 0}, {}, {}));
  EXPECT_FALSE(isPossible({gelu, 4, 0}, {1, 0, 0}, {})) << "one a column";
  EXPECT_FALSE(isPossible({gelu, 4, 0}, {8, 1, 0}, {})) << "a whole matrix";
  EXPECT_FALSE(isPossible({gelu, 4, 0}, {0, 2, 0}, {})) << "with gaps";
  EXPECT_FALSE(isPossible({gelu, 0, 8}, {}, {8, 1, 0})) << "alignment";
  EXPECT_FALSE(isPossible({gelu, 0, 16}, {}, {1, 2, 0})) << "transposed";
  // The gradient of a bias is the sum of an operand over the terms, or of the
  // result over one of its dims.
  constexpr auto sum = ProductEpilogue::Form::BiasGradient;
  using Summed = MatrixProduct::Epilogue::Summed;
  for (auto [summed, strides, expected] :
       {std::tuple(Summed::RowsOfA, Strides{0, 1, 0}, true),
        std::tuple(Summed::RowsOfResult, Strides{0, 1, 0}, true),
        std::tuple(Summed::ColumnsOfB, Strides{1, 0, 0}, true),
        std::tuple(Summed::RowsOfA, Strides{1, 0, 0}, false),
        std::tuple(Summed::ColumnsOfB, Strides{0, 1, 0}, false),
        std::tuple(Summed::ColumnsOfB, Strides{2, 0, 0}, false)})
    EXPECT_EQ(isPossible({sum, 0, 0, 4, summed}, {}, {}, strides), expected)
        << int(summed) << " " << strides[0] << " " << strides[1];
}

// A dim of one element may have any stride.
TEST(MatrixProductTest, VectorsAreMatrices) {
  const auto product =
      productOf("mnk", {1, 3, 5}, {99, 0, 1}, {0, 1, 3}, {77, 1, 0});
  ASSERT_TRUE(product);
  EXPECT_EQ(product->out.pitch, 3);
}
} // namespace
