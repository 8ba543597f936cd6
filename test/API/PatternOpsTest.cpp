// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Diagonals, progressions, grids and copies.
#include "Testing.h"

namespace meshloom {
namespace {

TEST(PatternOpsTest, Diagonals) {
  expectNear(eye(2, 3, 1), {0, 1, 0, 0, 0, 1});
  expectNear(eye(2, {}, 0, DType::I64), {1, 0, 0, 1});
  expectNear(tri(3, 2, -1), {0, 0, 1, 0, 1, 1});
  Tensor x = reshape(arange(1, 13), {2, 2, 3});
  expectNear(tril(x), {1, 0, 0, 4, 5, 0, 7, 0, 0, 10, 11, 0});
  expectNear(triu(x, 1), {0, 2, 3, 0, 0, 6, 0, 8, 9, 0, 0, 12});
  expectSharded([](const Tensor &x) { return tril(x, 1); }, sample({5, 6}),
                {"xy", "uy"});
  EXPECT_ERROR(tril(ones({3})), HAS("[tril]"), HAS("matrices"));
  EXPECT_ERROR(eye(-1), HAS("at least 0"));
}

TEST(PatternOpsTest, Progressions) {
  expectNear(arange(4), {0, 1, 2, 3});
  expectNear(arange(2, -1, -0.5), {2, 1.5, 1, 0.5, 0, -0.5});
  EXPECT_EQ(arange(-3, 3, 2, DType::I32).to_vector<int32_t>(),
            (std::vector<int32_t>{-3, -1, 1}));
  EXPECT_EQ(arange(3, 3).shape(), (Shape{0}));
  expectNear(linspace(1, 2, 5), {1, 1.25, 1.5, 1.75, 2});
  expectNear(linspace(3, 5, 1), {3});
  EXPECT_EQ(linspace(0, 0.1, 7).to_vector<float>().back(), 0.1f);
  EXPECT_ERROR(arange(0, 1, 0), HAS("[arange]"), HAS("step"));
  EXPECT_ERROR(arange(0, 1, 0.5, DType::I32), HAS("whole numbers"));
  EXPECT_ERROR(linspace(0, 1, 3, DType::I32), HAS("float type"));
}

TEST(PatternOpsTest, Grids) {
  Tensor a = arange(2), b = arange(3);
  auto xy = meshgrid({a, b});
  EXPECT_EQ(xy[0].shape(), (Shape{3, 2}));
  expectNear(xy[0], {0, 1, 0, 1, 0, 1});
  expectNear(xy[1], {0, 0, 1, 1, 2, 2});
  auto ij = meshgrid({a, b}, "ij");
  EXPECT_EQ(ij[0].shape(), (Shape{2, 3}));
  expectNear(ij[0], {0, 0, 0, 1, 1, 1});
  EXPECT_ERROR(meshgrid({a}, "yx"), HAS("yx"));
  EXPECT_ERROR(meshgrid({ones({2, 2})}), HAS("vectors"));
}

TEST(PatternOpsTest, Copies) {
  Tensor x = reshape(arange(4), {2, 2});
  expectNear(tile(x, {2, 2}), {0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3});
  EXPECT_EQ(tile(x, {3, 1, 1}).shape(), (Shape{3, 2, 2}));
  expectNear(tile(x, {2}), {0, 1, 0, 1, 2, 3, 2, 3});
  expectNear(repeat(x, 2, 1), {0, 0, 1, 1, 2, 2, 3, 3});
  expectNear(repeat(x, {0, 2}, 0), {2, 3, 2, 3});
  EXPECT_EQ(repeat(x, {0, 0}, -1).shape(), (Shape{2, 0}));
  expectSharded([](const Tensor &x) { return tile(x, {2, 3}); }, sample({4, 6}),
                {"xy", "yu"});
  expectSharded([](const Tensor &x) { return repeat(x, 3, 0); }, sample({4, 6}),
                {"xy", "yu"});
  EXPECT_ERROR(repeat(x, std::vector<int64_t>{1}, 0),
               HAS("2 elements along axis 0"));
  EXPECT_ERROR(tile(x, {-1}), HAS("at least 0"));
}

} // namespace
} // namespace meshloom
