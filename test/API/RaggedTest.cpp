// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ragged tensors and embeddings of ragged ids.
#include "Testing.h"

namespace meshloom {
namespace {

using Rows = std::vector<std::vector<int32_t>>;

RaggedTensor rows321() {
  return ragged::constant({{3, 1, 2}, {}, {4}, {1, 5}});
}

TEST(RaggedTest, IsMadeInEveryWay) {
  Rows rows{{3, 1, 2}, {}, {4}, {1, 5}};
  RaggedTensor x = rows321();
  EXPECT_EQ(x.to_vector<int32_t>(), rows);
  EXPECT_EQ(x.nrows(), 4);
  Tensor values = tensor({3, 1, 2, 4, 1, 5});
  EXPECT_EQ(RaggedTensor::from_row_splits(values, tensor({0, 3, 3, 4, 6}))
                .to_vector<int32_t>(),
            rows);
  EXPECT_EQ(RaggedTensor::from_row_lengths(values, tensor({3, 0, 1, 2}))
                .to_vector<int32_t>(),
            rows);
  EXPECT_EQ(RaggedTensor::from_value_rowids(values, tensor({0, 0, 0, 2, 3, 3}))
                .to_vector<int32_t>(),
            rows);
  EXPECT_EQ(
      RaggedTensor::from_value_rowids(values, tensor({0, 0, 0, 2, 3, 3}), 5)
          .nrows(),
      5);
  Tensor dense = x.to_tensor(-1);
  EXPECT_EQ(dense.to_vector<int32_t>(),
            (std::vector<int32_t>{3, 1, 2, -1, -1, -1, 4, -1, -1, 1, 5, -1}));
  EXPECT_EQ(
      RaggedTensor::from_tensor(dense, x.row_lengths()).to_vector<int32_t>(),
      rows);
  EXPECT_EQ(RaggedTensor::from_tensor(dense).row_lengths().to_vector<int64_t>(),
            (std::vector<int64_t>{3, 3, 3, 3}));
  EXPECT_EQ(x.to_tensor(0, 2).to_vector<int32_t>(),
            (std::vector<int32_t>{3, 1, 0, 0, 4, 0, 1, 5}));
  EXPECT_EQ(
      x.mask(2).to_vector<bool>(),
      (std::vector<bool>{true, true, false, false, true, false, true, true}));
}

// Behind the last row there may be anything.
TEST(RaggedTest, PaddingIsNotLookedAt) {
  RaggedTensor x = RaggedTensor::from_row_lengths(
      tensor({3.f, 1.f, 4.f, std::nanf(""), INFINITY}), tensor({2, 0, 1}));
  EXPECT_EQ(x.value_rowids().to_vector<int64_t>(),
            (std::vector<int64_t>{0, 0, 2, 3, 3}));
  EXPECT_EQ(x.is_value().to_vector<bool>(),
            (std::vector<bool>{true, true, true, false, false}));
  expectNear(reduce_sum(x, 1), {4, 0, 4});
  expectNear(reduce_prod(x, 1), {3, 1, 4});
  EXPECT_EQ(reduce_max(x, 1).to_vector<float>(),
            (std::vector<float>{3, -INFINITY, 4}));
  EXPECT_EQ(reduce_min(x, 1).to_vector<float>()[0], 1);
  expectNear(x.to_tensor(), {3, 1, 0, 0, 4, 0});
  RaggedTensor both = ragged::concat({x, x});
  expectNear(reduce_sum(both, 1), {4, 0, 4, 4, 0, 4});
  expectNear(both.values(range(0, 6)), {3, 1, 4, 3, 1, 4});
  expectNear(ragged::softmax(ragged::constant({{1.f, 1.f}, {5.f}})).values,
             {0.5, 0.5, 1});
  RaggedTensor picked = x.gather(tensor({2, 0, 0}));
  EXPECT_EQ(picked.to_vector<float>(),
            (std::vector<std::vector<float>>{{4}, {3, 1}, {3, 1}}));
  EXPECT_EQ(x.gather(tensor({2, 0}), 2).to_vector<float>(),
            (std::vector<std::vector<float>>{{4}, {3}}));
}

// A structure: functions take and give it; batches of one capacity are traced
// once; under every layout, with gradients.
TEST(RaggedTest, FunctionsTakeItUnderEveryLayout) {
  Mesh mesh = mesh2x4();
  RaggedTensor x =
      RaggedTensor::from_row_lengths(sample({16, 4}), tensor({3, 0, 5, 6}));
  auto step = [](const RaggedTensor &x) {
    GradientTape tape;
    Tensor means = reduce_sum(x, 1);
    Tensor loss = reduce_sum(square(means)) +
                  reduce_sum(square(x.to_tensor(0, 4)) *
                             expand_dims(range(4, DType::F32), -1));
    return std::tuple(means, x.with_values(tape.gradient(loss, x.values)));
  };
  auto [sums, slopes] = step(x);
  auto compiled = function(step);
  for (std::string_view letters : {"xy", "yu", "ux", "uu"}) {
    SCOPED_TRACE(letters);
    RaggedTensor sharded{distribute(x.values, specs(letters, mesh)),
                         distribute(x.row_splits, specs("u", mesh))};
    auto [sums2, slopes2] = compiled(sharded);
    expectSame(sums2, sums);
    expectSame(slopes2.values, slopes.values);
  }
  auto counted =
      function([](const RaggedTensor &x) { return reduce_sum(x, 1); });
  counted(x);
  counted(
      RaggedTensor::from_row_lengths(sample({16, 4}), tensor({1, 2, 3, 4})));
  EXPECT_EQ(counted.trace_count(), 1);
}

TEST(RaggedTest, Errors) {
  Tensor values = tensor({1, 2, 3});
  EXPECT_ERROR(RaggedTensor::from_row_splits(values, tensor({0, 2, 1})),
               HAS("[from_row_splits]"), HAS("never fall"), HAS("split 2"));
  EXPECT_ERROR(RaggedTensor::from_row_splits(values, tensor({0, 4})),
               HAS("number of values, 3"));
  EXPECT_ERROR(RaggedTensor::from_row_splits(values, tensor({1, 3})),
               HAS("from 0 on"));
  EXPECT_ERROR(RaggedTensor::from_row_lengths(values, tensor({4, -1})),
               HAS("[from_row_lengths]"));
  EXPECT_ERROR(RaggedTensor::from_value_rowids(values, tensor({1, 0, 2})),
               HAS("[from_value_rowids]"), HAS("rising order"));
  EXPECT_ERROR(RaggedTensor::from_value_rowids(values, tensor({1, 0})),
               HAS("a row for each value"));
  EXPECT_ERROR(reduce_sum(rows321(), 0), HAS("axis 1"), HAS("to_tensor"));
  EXPECT_ERROR(rows321().row(4), HAS("[-4, 4)"));
  EXPECT_ERROR(rows321().with_values(values), HAS("6 values as before"));
  EXPECT_ERROR(
      function([](const RaggedTensor &x) { return x.to_tensor(); })(rows321()),
      HAS("[to_tensor]"), HAS("a length in a function"));
  EXPECT_ERROR((RaggedTensor{values, tensor({0.f})}).row_lengths(),
               HAS("from_row_splits"));
}

//===----------------------------------------------------------------------===//
// Embeddings
//===----------------------------------------------------------------------===//

TEST(RaggedTest, EmbeddingsAreCombined) {
  Tensor table = reshape(arange(10), {5, 2}); // row i: 2 i, 2 i + 1
  RaggedTensor ids = ragged::constant({{3, 1}, {}, {4}});
  expectNear(nn::embedding_lookup_sparse(table, ids, Combiner::Sum),
             {8, 10, 0, 0, 8, 9});
  expectNear(nn::embedding_lookup_sparse(table, ids), {4, 5, 0, 0, 8, 9});
  expectNear(nn::embedding_lookup_sparse(table, ids, Combiner::SqrtN),
             {8 / std::sqrt(2.), 10 / std::sqrt(2.), 0, 0, 8, 9});
  Tensor weights = tensor({1.f, 3.f, 2.f});
  expectNear(nn::embedding_lookup_sparse(table, ids, Combiner::Mean, weights),
             {3, 4, 0, 0, 8, 9});
  expectNear(nn::embedding_lookup_sparse(table, ids, Combiner::SqrtN, weights),
             {12 / std::sqrt(10.), 16 / std::sqrt(10.), 0, 0, 8, 9});
  SparseTensor sparse{
      tensor({{0, 0}, {0, 2}, {2, 1}, {3, 3}}), tensor({3, 1, 4, -7}), {3, 3}};
  expectNear(nn::embedding_lookup_sparse(table, sparse, Combiner::Sum),
             {8, 10, 0, 0, 8, 9});
  RaggedTensor holes = ragged::constant({{3, -1}, {-1}, {4}});
  expectNear(nn::safe_embedding_lookup_sparse(table, holes),
             {6, 7, 0, 0, 8, 9});
  expectNear(nn::safe_embedding_lookup_sparse(table, holes, Combiner::Mean,
                                              tensor({1.f, 1.f, 1.f, 0.f}), 2),
             {6, 7, 4, 5, 4, 5});
  EXPECT_ERROR(nn::embedding_lookup_sparse(table, ragged::constant({{5}})),
               HAS("[embedding_lookup_sparse]"), HAS("[0, 5)"));
  EXPECT_ERROR(
      nn::embedding_lookup_sparse(table, ids, Combiner::Sum, tensor({1.f})),
      HAS("a weight for each id, f32 [3]"));
}

TEST(RaggedTest, EmbeddingsAreTheSameUnderEveryLayout) {
  RaggedTensor ids = RaggedTensor::from_row_lengths(
      tensor({3, 1, 4, 1, 5, 2, 6, 999}), tensor({2, 0, 4, 1}));
  Tensor weights = sample({8}, 5) + 2.f;
  for (Combiner combiner : {Combiner::Sum, Combiner::Mean, Combiner::SqrtN})
    expectSharded(
        [&](const Tensor &table) {
          return nn::embedding_lookup_sparse(table, ids, combiner, weights);
        },
        sample({8, 4}), {"xy", "yu", "ux"});
  // To the weights, too.
  Tensor table = sample({8, 4});
  auto slope = [&](const Tensor &w) {
    GradientTape tape;
    return tape.gradient(reduce_sum(square(nn::embedding_lookup_sparse(
                             table, ids, Combiner::Mean, w))),
                         w);
  };
  Tensor sharded = distribute(weights, specs("x", mesh2x4()));
  expectSame(function(slope)(sharded), slope(weights));
  // A number that is nearly the difference of two losses.
  Tensor more = index_add(weights, {1}, 1e-2f);
  auto loss = [&](const Tensor &w) {
    return reduce_sum(square(nn::embedding_lookup_sparse(table, ids,
                                                         Combiner::Mean, w)))
        .item<float>();
  };
  EXPECT_NEAR((loss(more) - loss(weights)) / 1e-2,
              slope(weights)[1].item<float>(), 2e-3);
}

} // namespace
} // namespace meshloom
