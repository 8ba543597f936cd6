// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention of any loops as cuDNN takes it.
#include "../../../lib/Runtime/Backends/CUDA/AttentionShape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshloom;
using namespace meshloom::cuda;
using testing::ElementsAre;

namespace {

/// Loops of 2 examples, 3 groups of 4 heads, 5 queries, 6 keys of 8 terms, and
/// 8 columns. Keys and values have no heads of a group.
struct GroupedLoops {
  std::vector<int64_t> extents{2, 3, 4, 5, 6, 8, 8};
  std::vector<std::vector<int64_t>> strides{
      {480, 32, 8, 96, 0, 1, 0},  // the query [2, 5, 3, 4, 8]
      {144, 8, 0, 0, 24, 1, 0},   // the key [2, 6, 3, 8]
      {144, 8, 0, 0, 24, 0, 1},   // the value
      {480, 32, 8, 96, 0, 0, 1}}; // the result
  Attention attention{.batchLoops = 3, .terms = 8, .columns = 8};

  std::optional<AttentionShape> shape(AttentionForm form) const {
    AttentionShape::Loops loops{extents, {}, {}, {}, {}};
    for (const std::vector<int64_t> &tensor : strides) {
      loops.strides.emplace_back(tensor);
      loops.alignments.push_back(16);
      loops.types.push_back(DType::BF16);
      loops.operands.push_back(loops.operands.size());
    }
    return AttentionShape::of(attention, form, loops);
  }
};

// The loops of the groups and of their heads are one dim of the queries.
TEST(AttentionShapeTest, GroupsOfHeadsAreOneDim) {
  const auto shape = GroupedLoops().shape(AttentionForm::Result);
  ASSERT_TRUE(shape);
  EXPECT_THAT(shape->query.extents, ElementsAre(2, 12, 5, 8));
  EXPECT_THAT(shape->query.strides, ElementsAre(480, 8, 96, 1));
  EXPECT_THAT(shape->key.extents, ElementsAre(2, 3, 8, 6));
  EXPECT_THAT(shape->key.strides, ElementsAre(144, 8, 1, 24));
  EXPECT_THAT(shape->result.extents, ElementsAre(2, 12, 5, 8));
}

// Groups that do not lie one behind the other are no one dim.
TEST(AttentionShapeTest, GroupsApartAreRefused) {
  GroupedLoops loops;
  loops.strides[0][1] = 40;
  EXPECT_FALSE(loops.shape(AttentionForm::Result));
}

// A mask of groups has too few heads for the queries, and too many to be that
// of all.
TEST(AttentionShapeTest, MasksOfGroupsAreRefused) {
  GroupedLoops loops;
  loops.attention.bias = Operand{};
  loops.strides.push_back({90, 30, 0, 6, 1, 0, 0});
  EXPECT_FALSE(loops.shape(AttentionForm::Result));
  loops.strides.back()[1] = 0;
  EXPECT_TRUE(loops.shape(AttentionForm::Result));
}

} // namespace
