// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The factors of reshapes, and where axes are cut for them.
#include "meshloom/Core/ReshapeCuts.h"

#include <gtest/gtest.h>

using namespace meshloom;

namespace {
using Cuts = std::set<AxisPart>;

/// The cuts of axis 0, of `size`, on a dim of `extent`.
Cuts cutsOf(const std::vector<std::pair<Shape, Shape>> &reshapes,
            int64_t extent, int64_t size) {
  ReshapeCuts cuts;
  for (const auto &[from, to] : reshapes)
    cuts.addReshape(from, to);
  cuts.addDim(extent, {{0, 1, size}});
  return cuts.find();
}

TEST(ReshapeCutsTest, RulesOfReshapes) {
  auto text = [](Shape from, Shape to) {
    return reshapeRule(from, to).to_string();
  };
  EXPECT_EQ(text({64, 12}, {4, 16, 12}), "(a b) c -> a b c");
  EXPECT_EQ(text({4, 1, 16}, {64}), "a 1 b -> (a b)");
  EXPECT_EQ(text({6, 4}, {4, 6}), "(a b!) e! -> (a c!) d!");
  EXPECT_EQ(text({4, 3, 5}, {2, 10, 3}), "(a b) c! e! -> a (b d!) f!");
  EXPECT_EQ(text({2, 0}, {0, 5}), "a! b! -> c! d!");
  EXPECT_EQ(text({}, {1, 1}), "[] -> 1 1");
}

TEST(ReshapeCutsTest, AnAxisIsCutBehindTheMajorFactor) {
  EXPECT_EQ(cutsOf({{{64, 12}, {4, 16, 12}}}, 64, 8), (Cuts{{0, 1, 4}}));
  EXPECT_EQ(cutsOf({{{4, 16, 12}, {64, 12}}}, 64, 8), (Cuts{{0, 1, 4}}));
  // It fits as it is; another dim.
  EXPECT_EQ(cutsOf({{{64}, {16, 4}}}, 64, 8), Cuts{});
  EXPECT_EQ(cutsOf({{{64}, {4, 16}}}, 16, 8), Cuts{});
}

TEST(ReshapeCutsTest, ACommonDivisorEndsTheWalk) {
  EXPECT_EQ(cutsOf({{{48}, {6, 8}}}, 48, 8), (Cuts{{0, 1, 2}}));
  EXPECT_EQ(cutsOf({{{24}, {3, 8}}}, 24, 8), Cuts{});
}

TEST(ReshapeCutsTest, CutDimsAreCutAgain) {
  EXPECT_EQ(cutsOf({{{64}, {2, 32}}, {{2, 32}, {2, 2, 16}}}, 64, 8),
            (Cuts{{0, 1, 2}, {0, 2, 2}}));
  // The minor factor begins a dim of another extent.
  EXPECT_EQ(cutsOf({{{32, 3}, {2, 48}}, {{48}, {2, 24}}}, 32, 8),
            (Cuts{{0, 1, 2}, {0, 2, 2}}));
}

TEST(ReshapeCutsTest, AMajorDimHandsItsAxesOn) {
  // 8 becomes the major part of 32, which is cut behind its first 2.
  EXPECT_EQ(cutsOf({{{8, 4}, {32}}, {{32}, {2, 16}}}, 8, 8), (Cuts{{0, 1, 2}}));
  EXPECT_EQ(cutsOf({{{4, 8}, {32}}, {{32}, {2, 16}}}, 8, 8), Cuts{});
}

TEST(ReshapeCutsTest, SeveralAxesOfADim) {
  ReshapeCuts cuts;
  cuts.addReshape({64}, {4, 16});
  cuts.addDim(64, {{0, 1, 2}, {1, 1, 4}});
  EXPECT_EQ(cuts.find(), (Cuts{{1, 1, 2}}));
}
} // namespace
