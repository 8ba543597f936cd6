// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sparse tensors: what is done with the entries is what is done with the dense
// tensor, under every layout, with gradients.
#include "Testing.h"

namespace meshloom {
namespace {

/// A matrix in which about a third of the elements are not 0.
Tensor holey(Shape shape, uint32_t seed = 1) {
  Tensor x = sample(std::move(shape), seed);
  return where(x > 0.3f, x, 0.f);
}

TEST(SparseTest, ConvertsToAndFromDense) {
  Tensor x = tensor({{0.f, 2.f, 0.f}, {3.f, 0.f, 4.f}});
  SparseTensor s = sparse::from_dense(x);
  EXPECT_EQ(s.indices.to_vector<int64_t>(),
            (std::vector<int64_t>{0, 1, 1, 0, 1, 2}));
  expectNear(s.values, {2, 3, 4});
  expectSame(sparse::to_dense(s), x, 0);
  // With room for more, and for less.
  SparseTensor padded = sparse::from_dense(x, 5);
  EXPECT_EQ(padded.values.shape(), (Shape{5}));
  expectSame(sparse::to_dense(padded), x, 0);
  expectNear(sparse::to_dense(sparse::from_dense(x, 2)), {0, 2, 0, 3, 0, 0});
  Tensor cube = holey({3, 4, 5});
  expectSame(sparse::to_dense(sparse::from_dense(cube)), cube, 0);
  Tensor flags = tensor({true, false, true});
  expectSame(cast(sparse::to_dense(sparse::from_dense(flags)), DType::I32),
             cast(flags, DType::I32), 0);
  // Equal indices add up.
  expectNear(
      sparse::to_dense({tensor({{0, 1}, {0, 1}}), tensor({1.f, 2.f}), {1, 2}}),
      {0, 3});
  EXPECT_ERROR(
      function([](const Tensor &x) { return sparse::from_dense(x); })(x),
      HAS("[from_dense]"), HAS("a size in a function"));
  EXPECT_ERROR(sparse::to_dense({tensor({{0, 1}}), tensor({1.f}), {4}}),
               HAS("[to_dense]"), HAS("indices [entries, 1]"));
}

TEST(SparseTest, ConvertsToRowsAndBack) {
  Tensor x = holey({5, 7});
  // Columns first: to_csr has to sort.
  SparseTensor columns =
      sparse::transpose(sparse::from_dense(transpose(x), 20));
  CSRMatrix rows = sparse::to_csr(columns);
  expectSame(sparse::to_dense(rows), x, 0);
  expectSame(rows.row_splits[5], count_nonzero(x), 0);
  expectSame(sparse::to_dense(sparse::to_coo(rows)), x, 0);
  SparseTensor ordered = sparse::reorder(columns);
  expectSame(ordered.values, sparse::from_dense(x, 20).values, 0);
  EXPECT_ERROR(sparse::to_csr(sparse::from_dense(zeros({2}))), HAS("[to_csr]"),
               HAS("a sparse matrix"));
}

TEST(SparseTest, MultipliesDense) {
  Tensor a = holey({6, 8}), b = sample({8, 5}, 3), c = sample({6, 5}, 4);
  SparseTensor s = sparse::from_dense(a, 30);
  expectSame(sparse::sparse_dense_matmul(s, b), matmul(a, b));
  expectSame(sparse::sparse_dense_matmul(sparse::to_csr(s), b), matmul(a, b));
  expectSame(sparse::sparse_dense_matmul(s, c, {.adjoint_a = true}),
             matmul(a, c, {.transpose_a = true}));
  expectSame(sparse::sparse_dense_matmul(s, transpose(b), {.adjoint_b = true}),
             matmul(a, b));
  expectSame(sparse::sparse_dense_matmul(s, b(all, 0)), matmul(a, b)(all, 0));
  EXPECT_EQ(sparse::sparse_dense_matmul(sparse::from_dense(zeros({2, 3})),
                                        zeros({3, 4}))
                .shape(),
            (Shape{2, 4}));
  EXPECT_ERROR(sparse::sparse_dense_matmul(s, c), HAS("[sparse_dense_matmul]"),
               HAS("b [8, n]"), HAS("f32 [6, 5]"));
  EXPECT_ERROR(sparse::sparse_dense_matmul(s, cast(b, DType::F64)),
               HAS("one type"));
}

// Entries and dense operands cut over both axes, in functions that take the
// structure, with gradients to values and to the dense operand.
TEST(SparseTest, IsTheSameUnderEveryLayout) {
  Mesh mesh = mesh2x4();
  SparseTensor s = sparse::from_dense(holey({6, 8}), 24);
  Tensor b = sample({8, 4}, 3);
  auto step = [](const SparseTensor &s, const Tensor &b) {
    GradientTape tape;
    Tensor y = sparse::sparse_dense_matmul(s, b);
    Tensor loss =
        reduce_sum(square(y)) + reduce_sum(square(sparse::reduce_sum(s, 1)));
    return std::tuple(y, tape.gradient(loss, s.values), tape.gradient(loss, b));
  };
  auto [y, ds, db] = step(s, b);
  auto compiled = function(step);
  for (auto [entries, dense] :
       {std::pair("x", "uu"), {"y", "xu"}, {"u", "xy"}, {"x", "uy"}}) {
    SCOPED_TRACE(entries);
    SparseTensor sharded{
        distribute(s.indices, specs(std::string(entries) + "u", mesh)),
        distribute(s.values, specs(entries, mesh)), s.dense_shape};
    auto [y2, ds2, db2] = compiled(sharded, distribute(b, specs(dense, mesh)));
    expectSame(y2, y);
    expectSame(ds2, ds);
    expectSame(db2, db);
  }
}

TEST(SparseTest, GradientsOfConversions) {
  Tensor x = holey({4, 5});
  GradientTape tape;
  Tensor y = sparse::to_dense(sparse::from_dense(x, 12)) * sample({4, 5}, 9);
  expectSame(tape.gradient(reduce_sum(y), x),
             where(x != 0, sample({4, 5}, 9), 0.f));
}

TEST(SparseTest, RearrangesAndReduces) {
  Tensor x = holey({4, 3, 5});
  SparseTensor s = sparse::from_dense(x, 40);
  expectSame(sparse::to_dense(sparse::transpose(s, {2, 0, 1})),
             transpose(x, {2, 0, 1}), 0);
  expectSame(sparse::to_dense(sparse::reshape(s, {6, -1})), reshape(x, {6, 10}),
             0);
  expectSame(sparse::reduce_sum(s), reduce_sum(x));
  expectSame(sparse::reduce_sum(s, {0, 2}, true), reduce_sum(x, {0, 2}, true));
  expectSame(sparse::reduce_max(s, -1), reduce_max(x, -1)); // none is negative
  expectSame(sparse::to_dense(sparse::add(s, s)), 2.f * x);
  expectSame(sparse::add(s, ones({4, 3, 5})), x + 1.f);
  expectSame(sparse::to_dense(sparse::multiply(s, sample({4, 3, 5}, 5))),
             x * sample({4, 3, 5}, 5));
  expectSame(sparse::to_dense(sparse::concat({s, s}, 1)), concat({x, x}, 1), 0);
  expectSame(sparse::to_dense(sparse::retain(s, s.values > 0.6f)),
             where(x > 0.6f, x, 0.f), 0);
  expectSame(sparse::to_dense(sparse::map_values(
                 s, [](const Tensor &v) { return v * 3.f; })),
             x * 3.f);
  SparseTensor rows = sparse::softmax(
      sparse::from_dense(tensor({{0.f, 1.f, 1.f}, {5.f, 0.f, 0.f}})));
  expectNear(sparse::to_dense(rows), {0, 0.5, 0.5, 1, 0, 0});
  EXPECT_ERROR(sparse::reshape(s, {7}), HAS("[reshape]"), HAS("60 elements"));
  EXPECT_ERROR(sparse::concat({s, sparse::from_dense(zeros({2, 2}))}, 0),
               HAS("[concat]"), HAS("dim 0 only"));
  std::ostringstream text;
  text << sparse::from_dense(tensor({0.f, 7.f}));
  EXPECT_THAT(text.str(), HAS("dense_shape=[2]"));
}

} // namespace
} // namespace meshloom
