// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Patterns of dims: rearrange, reduce and repeat.
#include "Testing.h"

namespace meshloom {
namespace {

// The examples are those of einops' own documentation.
TEST(RearrangeTest, SplitsJoinsAndMovesDims) {
  Tensor x = reshape(arange(2 * 3 * 8), {2, 3, 8});
  Tensor heads = rearrange(x, "b s (h d) -> b h s d", {{"h", 4}});
  EXPECT_EQ(heads.shape(), (Shape{2, 4, 3, 2}));
  expectSame(heads, transpose(reshape(x, {2, 3, 4, 2}), {0, 2, 1, 3}), 0);
  expectSame(rearrange(heads, "b h s d -> b s (h d)"), x, 0);
  EXPECT_EQ(rearrange(x, "b s d -> (b s) d").shape(), (Shape{6, 8}));
  EXPECT_EQ(rearrange(x, "b ... -> ... b").shape(), (Shape{3, 8, 2}));
  EXPECT_EQ(rearrange(x, "b ... -> b (...)").shape(), (Shape{2, 24}));
  EXPECT_EQ(rearrange(x, "b s d -> b 1 s d ()").shape(),
            (Shape{2, 1, 3, 8, 1}));
  EXPECT_EQ(rearrange(zeros({4, 1, 2}), "a 1 b -> b a").shape(), (Shape{2, 4}));
  Tensor image = sample({1, 4, 6, 3});
  Tensor patches = rearrange(image, "b (h p) (w q) c -> b (h w) (p q c)",
                             {{"p", 2}, {"q", 2}});
  EXPECT_EQ(patches.shape(), (Shape{1, 6, 12}));
  expectSame(patches(0, 1, range(0, 3)), image(0, 0, 2), 0);
}

TEST(RearrangeTest, ReducesAndRepeats) {
  Tensor x = sample({2, 4, 6, 3});
  expectSame(reduce(x, "b h w c -> b c", "mean"), reduce_mean(x, {1, 2}));
  expectSame(reduce(x, "b (h 2) (w 2) c -> b h w c", "max"),
             max_pool(x, {2, 2}));
  EXPECT_EQ(reduce(x, "b h w c -> c b", "sum").shape(), (Shape{3, 2}));
  Tensor grey = sample({2, 3});
  expectSame(repeat(grey, "h w -> h w c", {{"c", 3}}),
             broadcast_to(expand_dims(grey, 2), {2, 3, 3}), 0);
  expectSame(repeat(grey, "h w -> (h 2) w"), repeat(grey, 2, 0), 0);
  EXPECT_EQ(repeat(grey, "h w -> (r h) w", {{"r", 4}}).shape(), (Shape{8, 3}));
}

TEST(RearrangeTest, IsTheSameUnderEveryLayout) {
  expectSharded(
      [](const Tensor &x) {
        return rearrange(x, "b (h d) -> h b d", {{"h", 4}});
      },
      sample({8, 16}), {"xy", "yx", "ux", "uy"});
  expectSharded(
      [](const Tensor &x) { return reduce(x, "(b 2) c -> c b", "max"); },
      sample({8, 16}), {"xy", "yu"});
}

TEST(RearrangeTest, Errors) {
  Tensor x = zeros({4, 6});
  EXPECT_ERROR(rearrange(x, "a b"), HAS("[rearrange]"), HAS("\"a b\""),
               HAS("->"));
  EXPECT_ERROR(rearrange(x, "a b -> a"), HAS("b is on the left only"),
               HAS("reduce"));
  EXPECT_ERROR(rearrange(x, "a b -> a b c"), HAS("c is on the right only"));
  EXPECT_ERROR(rearrange(x, "a b c -> c b a"), HAS("for 3 dims"),
               HAS("f32 [4, 6]"));
  EXPECT_ERROR(rearrange(x, "a (b c) -> a b c"), HAS("b and c are unknown"),
               HAS("{{\"c\", size}}"));
  EXPECT_ERROR(rearrange(x, "a (b c) -> a b c", {{"b", 4}}),
               HAS("dim 1 of f32 [4, 6] is 6"));
  EXPECT_ERROR(rearrange(x, "a b -> a b", {{"d", 4}}),
               HAS("d, which is not in the pattern"));
  EXPECT_ERROR(rearrange(x, "a a -> a"), HAS("a is twice"));
  EXPECT_ERROR(rearrange(x, "(a b -> a b"), HAS("expected ')'"));
  EXPECT_ERROR(rearrange(x, "a b; -> a b"), HAS("';'"));
  EXPECT_ERROR(repeat(x, "a b -> a b c"), HAS("[repeat]"),
               HAS("size of c is unknown"));
  EXPECT_ERROR(reduce(x, "a b -> a", "median"), HAS("[reduce]"),
               HAS("\"median\""));
}

} // namespace
} // namespace meshloom
