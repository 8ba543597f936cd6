// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Into how many parts partitioners cut variables.
#include "Testing.h"

#include "meshloom/Distribute/ParameterServer/Partitioners.h"

namespace meshloom {
namespace {
using Parts = std::vector<int64_t>;

TEST(PartitionersTest, FixedGivesAtMostAPartPerRow) {
  EXPECT_EQ(FixedShardsPartitioner(2)({10, 3}, DType::F32), (Parts{2, 1}));
  EXPECT_EQ(FixedShardsPartitioner(20)({10, 3}, DType::F32), (Parts{10, 1}));
  EXPECT_EQ(FixedShardsPartitioner(3)({5}, DType::F32), (Parts{3}));
}

TEST(PartitionersTest, MinSizeHasTheMinimumInEachPart) {
  // 24 bytes: of 4 and more that is 6 parts at most.
  EXPECT_EQ(MinSizePartitioner(4, 2)({6, 1}, DType::F32), (Parts{2, 1}));
  EXPECT_EQ(MinSizePartitioner(4, 10)({6, 1}, DType::F32), (Parts{6, 1}));
  EXPECT_EQ(MinSizePartitioner(12, 10)({6, 1}, DType::F32), (Parts{2, 1}));
  // ceil(24 / 10) is 3, of 8 bytes each: less than 10, as TensorFlow has it.
  EXPECT_EQ(MinSizePartitioner(10, 10)({6, 1}, DType::F32), (Parts{3, 1}));
  EXPECT_EQ(MinSizePartitioner(100, 10)({6, 1}, DType::F32), (Parts{1, 1}));
  // By default 256 KiB, and one part.
  EXPECT_EQ(MinSizePartitioner()({1 << 20, 4}, DType::F32), (Parts{1, 1}));
  EXPECT_EQ(MinSizePartitioner(256 << 10, 99)({1 << 16, 4}, DType::F32),
            (Parts{4, 1}));
}

TEST(PartitionersTest, MaxSizeHasTheMaximumInEachPart) {
  // Rows of 4 bytes.
  EXPECT_EQ(MaxSizePartitioner(4)({6, 1}, DType::F32), (Parts{6, 1}));
  EXPECT_EQ(MaxSizePartitioner(4, 2)({6, 1}, DType::F32), (Parts{2, 1}));
  EXPECT_EQ(MaxSizePartitioner(8)({6, 1}, DType::F32), (Parts{3, 1}));
  EXPECT_EQ(MaxSizePartitioner(16)({6, 1}, DType::F32), (Parts{2, 1}));
  EXPECT_EQ(MaxSizePartitioner(1024)({6, 1}, DType::F32), (Parts{1, 1}));
  // A row is not cut.
  EXPECT_EQ(MaxSizePartitioner(1)({3, 5}, DType::F64), (Parts{3, 1}));
}

TEST(PartitionersTest, NumbersBelowOneAreRefused) {
  EXPECT_THAT(errorOf([] { FixedShardsPartitioner(0); }),
              testing::HasSubstr("expected num_shards to be 1 or more, got 0"));
  EXPECT_THAT(errorOf([] { MinSizePartitioner(0); }),
              testing::HasSubstr("min_shard_bytes"));
  EXPECT_THAT(errorOf([] { MinSizePartitioner(1, 0); }),
              testing::HasSubstr("max_shards"));
  EXPECT_THAT(errorOf([] { MaxSizePartitioner(0); }),
              testing::HasSubstr("max_shard_bytes"));
  EXPECT_THAT(errorOf([] { MaxSizePartitioner(1, 0); }),
              testing::HasSubstr("max_shards"));
}

TEST(PartitionersTest, RowsAreCutAsEquallyAsPossible) {
  EXPECT_EQ(
      detail::rowsOfPartition(FixedShardsPartitioner(5), {13, 2}, DType::F32),
      (Parts{3, 3, 3, 2, 2}));
  // A scalar, and what would be one part, stay whole.
  EXPECT_EQ(
      detail::rowsOfPartition(FixedShardsPartitioner(5), {}, DType::F32).size(),
      1u);
  EXPECT_EQ(
      detail::rowsOfPartition(FixedShardsPartitioner(5), {1, 9}, DType::F32)
          .size(),
      1u);
}

TEST(PartitionersTest, OnlyTheFirstDimIsCut) {
  auto parts = [](Parts shards) {
    return errorOf([&] {
      (void)detail::rowsOfPartition(
          [&](const Shape &, DType) { return shards; }, {4, 4}, DType::F32);
    });
  };
  EXPECT_EQ(parts({2, 1}), "");
  EXPECT_THAT(parts({1, 2}), testing::HasSubstr("all dims but the first"));
  EXPECT_THAT(parts({2}), testing::HasSubstr("for each dim"));
  EXPECT_THAT(parts({5, 1}), testing::HasSubstr("than there are rows"));
}

} // namespace
} // namespace meshloom
