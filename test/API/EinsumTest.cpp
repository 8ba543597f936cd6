// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// einsum against NumPy's results and against ops that compute the same.
#include "Testing.h"

namespace meshloom {
namespace {

TEST(EinsumTest, OneOperand) {
  Tensor x = reshape(arange(6), {2, 3}), square = reshape(arange(9), {3, 3});
  expectSame(einsum("ij->ji", x), transpose(x));
  expectSame(einsum("ba", x), transpose(x));
  expectNear(einsum("ij->", x), {15});
  expectNear(einsum("ii", square), {12});
  expectNear(einsum("ii->i", square), {0, 4, 8});
  expectNear(einsum("...j->...", x), {3, 12});
}

TEST(EinsumTest, SeveralOperands) {
  Tensor a = reshape(arange(20), {4, 5}),
         b = transpose(reshape(arange(20, 40), {4, 5})),
         c = reshape(arange(40, 60), {4, 5})(all, range(0, 3));
  Tensor d = einsum("ij, jk, kl -> li", {a, b, c});
  EXPECT_EQ(d.shape(), (Shape{3, 4}));
  expectNear(d, {59200, 202450, 345700, 488950, 60420, 206620, 352820, 499020,
                 61640, 210790, 359940, 509090});
  Tensor q = sample({2, 4, 3, 5}), k = sample({2, 6, 3, 5}, 2);
  expectSame(einsum("bqhd,bkhd->bhqk", q, k),
             matmul(transpose(q, {0, 2, 1, 3}), transpose(k, {0, 2, 3, 1})));
  Tensor x = sample({7, 1, 2, 3}), y = sample({4, 3, 5}, 2);
  expectSame(einsum("...ij,...jk->...ik", x, y), matmul(x, y));
  expectSame(einsum("...ij,jk", x, y[0]), matmul(x, y[0]));
  expectNear(einsum("i,i,i->i", arange(3), arange(3), arange(3)), {0, 1, 8});
  expectSame(einsum("i,j", arange(3), arange(4)), outer(arange(3), arange(4)));
  EXPECT_EQ(outer(ones({2, 2}), ones({3})).shape(), (Shape{4, 3}));
  EXPECT_EQ(einsum("i,i", tensor({1, 2}), tensor({3, 4})).item<int32_t>(), 11);
}

TEST(EinsumTest, ShardedEqualsUnsharded) {
  Tensor w = sample({8, 4}, 3);
  expectSharded([&](const Tensor &x) { return einsum("ij,jk->ki", x, w); },
                sample({6, 8}), {"xy", "yu", "uy", "ux"});
  expectSharded(
      [&](const Tensor &x) { return einsum("ij,ik,i->jk", x, x, x(all, 0)); },
      sample({6, 8}), {"xy", "yu", "uy"});
}

TEST(EinsumTest, ErrorsNameTheLetter) {
  Tensor x = ones({2, 3});
  EXPECT_ERROR(einsum("ij,jk", x, x),
               HAS("[einsum] in \"ij,jk\": 'j' is 3 in one operand and 2 in "
                   "another"));
  EXPECT_ERROR(einsum("ijk->i", x), HAS("operand 0 is \"ijk\", for 3 dims"),
               HAS("f32 [2, 3]"));
  EXPECT_ERROR(einsum("ij->k", x), HAS("'k' is in no operand"));
  EXPECT_ERROR(einsum("ij->ii", x), HAS("twice"));
  EXPECT_ERROR(einsum("ij,jk", {x}), HAS("expected 2 operands, got 1"));
  EXPECT_ERROR(einsum("i1", x), HAS("'1'"));
  EXPECT_ERROR(einsum("ii", x), HAS("'i' is 2 and 3"));
}

} // namespace
} // namespace meshloom
