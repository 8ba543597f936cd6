// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of ragged and sparse tensors as elements, and batches of them.
#include "meshloom/Data/RaggedBatches.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/Ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshloom {
namespace {

using Rows = std::vector<std::vector<int32_t>>;
using ::testing::HasSubstr;

RaggedTensor words() {
  return ragged::constant({{3, 1, 2}, {}, {4}, {1, 5}, {6}});
}

TEST(RaggedBatchesTest, RowsAreTensorsOfTheirLength) {
  std::vector<Tensor> rows = data::from_tensor_slices(words()).to_vector();
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0].to_vector<int32_t>(), (std::vector<int32_t>{3, 1, 2}));
  EXPECT_EQ(rows[1].shape(), (Shape{0}));
  EXPECT_EQ(data::from_tensor_slices(words()).cardinality(), 5);
  // Dense batches, as before.
  auto dense = data::from_tensor_slices(words()).padded_batch(2).to_vector();
  EXPECT_EQ(dense[0].to_vector<int32_t>(),
            (std::vector<int32_t>{3, 1, 2, 0, 0, 0}));
}

TEST(RaggedBatchesTest, BatchesAreRagged) {
  auto batches =
      data::ragged_batch(data::from_tensor_slices(words(), range(5)), 2);
  std::vector<Rows> seen;
  std::vector<int32_t> labels;
  for (auto [x, y] : batches) {
    seen.push_back(x.to_vector<int32_t>());
    for (int32_t label : y.to_vector<int32_t>())
      labels.push_back(label);
  }
  EXPECT_EQ(seen, (std::vector<Rows>{{{3, 1, 2}, {}}, {{4}, {1, 5}}, {{6}}}));
  EXPECT_EQ(labels, (std::vector<int32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(data::ragged_batch(data::from_tensor_slices(words()), 2,
                               {.drop_remainder = true})
                .to_vector()
                .size(),
            2u);
}

// Batches of one capacity have one shape: a function is traced once.
TEST(RaggedBatchesTest, ACapacityMakesShapesEqual) {
  auto batches = data::ragged_batch(data::from_tensor_slices(words()), 2,
                                    {.capacity = 4, .drop_remainder = true});
  auto sums = function([](const RaggedTensor &x) { return reduce_sum(x, 1); });
  std::vector<int32_t> rowSums;
  for (const RaggedTensor &x : batches) {
    EXPECT_EQ(x.values.shape(), (Shape{4}));
    for (int32_t sum : sums(x).to_vector<int32_t>())
      rowSums.push_back(sum);
  }
  EXPECT_EQ(rowSums, (std::vector<int32_t>{6, 0, 4, 6}));
  EXPECT_EQ(sums.trace_count(), 1);
}

TEST(RaggedBatchesTest, SparseRowsAndBatches) {
  SparseTensor whole = sparse::from_dense(
      tensor({{0.f, 2.f, 0.f}, {3.f, 0.f, 4.f}, {0.f, 0.f, 0.f}}), 5);
  auto rows = data::from_tensor_slices(whole, range(3));
  std::vector<std::pair<SparseTensor, Tensor>> elements = rows.to_vector();
  EXPECT_EQ(elements[1].first.dense_shape, (Shape{3}));
  EXPECT_EQ(sparse::to_dense(elements[1].first).to_vector<float>(),
            (std::vector<float>{3, 0, 4}));
  EXPECT_EQ(elements[2].first.values.shape(), (Shape{0}));
  std::vector<std::vector<float>> dense;
  for (auto [x, y] : data::sparse_batch(rows, 2, {.capacity = 6})) {
    EXPECT_EQ(x.values.shape(), (Shape{6}));
    dense.push_back(sparse::to_dense(x).to_vector<float>());
  }
  EXPECT_EQ(dense,
            (std::vector<std::vector<float>>{{0, 2, 0, 3, 0, 4}, {0, 0, 0}}));
}

TEST(RaggedBatchesTest, Errors) {
  auto message = [](auto body) {
    try {
      body();
    } catch (const Error &error) {
      return std::string(error.message());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message([] { data::from_tensor_slices(words(), range(4)); }),
              HasSubstr("[from_tensor_slices] expected tensors with equally "
                        "many rows, got 5 and 4"));
  EXPECT_THAT(message([] {
                data::ragged_batch(data::from_tensor_slices(words()), 2,
                                   {.capacity = 2})
                    .to_vector();
              }),
              HasSubstr("[ragged_batch] elements 0 to 1 have 3 values, more "
                        "than the capacity of 2"));
  EXPECT_THAT(
      message([] { data::ragged_batch(data::range(3), 2).to_vector(); }),
      HasSubstr("expected tensors [length, ...], got i64 []"));
  EXPECT_THAT(
      message([] { data::ragged_batch(data::from_tensor_slices(words()), 0); }),
      HasSubstr("[ragged_batch] expected a batch of at least one element"));
}

} // namespace
} // namespace meshloom
