// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows: what ops read through them, against a walk over all elements; boxes,
// unions and bytes of halo exchanges; their text form.
#include "meshloom/Core/Collective.h"
#include "meshloom/Core/MachineModel.h"
#include "meshloom/Core/ShardingRule.h"
#include "meshloom/Core/SharedWindows.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace meshloom;

namespace {

/// Calls `visit` for every way to cut [0, extent) into one range.
template <typename F> void forEachRange(int64_t extent, F visit) {
  for (int64_t begin = 0; begin <= extent; ++begin)
    for (int64_t end = begin; end <= extent; ++end)
      visit(Interval{begin, end});
}

/// The hull of what `reads` says that each index of a range needs.
template <typename F>
Interval hullOfReads(Interval range, int64_t extent, F reads) {
  Interval hull;
  for (int64_t i = range.begin; i < range.end; ++i)
    for (int64_t index : reads(i))
      if (index >= 0 && index < extent)
        hull = hull.hull({index, index + 1});
  return hull;
}

void expectSameElements(Interval got, Interval want) {
  if (want.empty())
    EXPECT_TRUE(got.empty());
  else
    EXPECT_EQ(got, want);
}

TEST(WindowTest, StridedSliceReadsWhatItsElementsAre) {
  for (int64_t size : {1, 5, 12})
    for (int64_t start = 0; start < size; ++start)
      for (int64_t stride : {1, 2, 5}) {
        int64_t count = (size - start + stride - 1) / stride;
        ShardingRule::Window window{0, 0, 0, stride, start, start, 1, {}};
        forEachRange(count, [&](Interval range) {
          expectSameElements(window.map(range, size),
                             hullOfReads(range, size, [&](int64_t i) {
                               return std::vector<int64_t>{start + i * stride};
                             }));
        });
      }
}

TEST(WindowTest, ReverseReadsFromTheOtherEnd) {
  for (int64_t size : {1, 2, 7}) {
    ShardingRule::Window window{0, 0, 0, -1, size - 1, size - 1, 1, {}};
    forEachRange(size, [&](Interval range) {
      expectSameElements(window.map(range, size),
                         hullOfReads(range, size, [&](int64_t i) {
                           return std::vector<int64_t>{size - 1 - i};
                         }));
    });
  }
}

TEST(WindowTest, PaddingReadsOnlyRealElements) {
  for (int64_t size : {1, 2, 6})
    for (int64_t low : {-2, 0, 3})
      for (int64_t high : {-1, 0, 4})
        for (int64_t step : {1, 2, 4}) {
          int64_t count = low + high + size + (size - 1) * (step - 1);
          if (count < 0)
            continue;
          ShardingRule::Window window{0,    0,    0, 1, step - 1 - low,
                                      -low, step, {}};
          forEachRange(count, [&](Interval range) {
            expectSameElements(window.map(range, size),
                               hullOfReads(range, size, [&](int64_t i) {
                                 std::vector<int64_t> index;
                                 if ((i - low) % step == 0)
                                   index.push_back((i - low) / step);
                                 return index;
                               }));
          });
        }
}

/// A convolution with any stride, dilations and padding.
TEST(WindowTest, ConvolutionReadsAtLeastItsTapsAndNoMoreThanTheirHull) {
  for (int64_t size : {1, 4, 9})
    for (int64_t taps : {1, 3})
      for (int64_t stride : {1, 2, 3})
        for (int64_t base : {1, 2})
          for (int64_t dilation : {1, 2})
            for (int64_t low : {-1, 0, 2}) {
              int64_t padded = (size - 1) * base + 1 + low + 2;
              int64_t count = (padded - (taps - 1) * dilation - 1) / stride + 1;
              if (padded <= (taps - 1) * dilation)
                continue;
              // Index i * stride - low + k * dilation of the dilated dim.
              ShardingRule::Window window{0,
                                          0,
                                          0,
                                          stride,
                                          base - 1 - low,
                                          (taps - 1) * dilation - low,
                                          base,
                                          {}};
              forEachRange(count, [&](Interval range) {
                Interval got = window.map(range, size);
                Interval need = hullOfReads(range, size, [&](int64_t i) {
                  std::vector<int64_t> reads;
                  for (int64_t k = 0; k < taps; ++k)
                    if (int64_t index = i * stride - low + k * dilation;
                        index % base == 0)
                      reads.push_back(index / base);
                  return reads;
                });
                EXPECT_TRUE(got.contains(need));
                if (stride == 1 && dilation == 1 && base == 1)
                  expectSameElements(got, need);
              });
            }
}

TEST(WindowTest, TakeReadsTheHullOfItsSources) {
  std::vector<int64_t> sources{3, -1, 0, 5, 5, -1};
  ShardingRule::Window window{0, 0, 0, 1, 0, 0, 1, sources};
  forEachRange(6, [&](Interval range) {
    expectSameElements(window.map(range, 6),
                       hullOfReads(range, 6, [&](int64_t i) {
                         return std::vector<int64_t>{sources[size_t(i)]};
                       }));
  });
}

/// Blocks of a dim over several axes are those of Layout::shard.
TEST(WindowTest, BlocksAreTheLayouts) {
  Mesh mesh = *Mesh::get({{"x", 2}, {"y", 3}});
  for (int64_t extent : {0, 1, 2, 5, 6, 13})
    for (auto axes :
         std::vector<std::vector<unsigned>>{{}, {0}, {1}, {0, 1}, {1, 0}}) {
      Layout layout = *Layout::get(mesh, {axes});
      for (int64_t device = 0; device < mesh.size(); ++device) {
        Box box = layout.shard({extent}, device);
        Interval block = blockOf(extent, axes, mesh,
                                 shardIndex(axes, mesh, mesh.coords(device)));
        EXPECT_EQ(block.size(), box.extent[0]);
        if (!block.empty())
          EXPECT_EQ(block.begin, box.offset[0]);
      }
    }
}

/// The most elements any device sends or receives, counted one by one.
int64_t countedHalo(const Layout &layout, const Shape &shape,
                    const Windows &windows) {
  const Mesh &mesh = layout.mesh();
  std::vector<int64_t> sent(size_t(mesh.size())), received(sent);
  for (int64_t to = 0; to < mesh.size(); ++to) {
    Box window = heldBox(layout, shape, windows, to);
    for (int64_t from = 0; from < mesh.size(); ++from) {
      // Devices that hold the same block serve those nearest: the ones that
      // differ only on axes of the layout's dims.
      bool near = true;
      std::vector<int64_t> a = mesh.coords(from), b = mesh.coords(to);
      for (unsigned axis = 0; axis < mesh.rank(); ++axis)
        near &= layout.uses_axis(axis) || a[axis] == b[axis];
      if (from == to || !near)
        continue;
      int64_t moved = layout.shard(shape, from).intersect(window).count();
      sent[size_t(from)] += moved;
      received[size_t(to)] += moved;
    }
  }
  return std::max(*std::ranges::max_element(sent),
                  *std::ranges::max_element(received));
}

TEST(WindowTest, HaloElementsAreTheMostThatOneDeviceMoves) {
  Mesh mesh = *Mesh::get({{"x", 2}, {"y", 4}});
  for (auto axes : std::vector<Layout::DimAxes>{
           {{0}, {1}}, {{1}, {}}, {{0, 1}, {}}, {{1, 0}, {}}, {{}, {1, 0}}})
    for (Shape shape : std::vector<Shape>{{8, 8}, {7, 5}, {3, 9}, {1, 2}})
      for (int64_t halo : {0, 1, 3, 20}) {
        Layout layout = *Layout::get(mesh, axes);
        ShardingRule rule = *ShardingRule::parse("a b -> a b");
        for (unsigned dim = 0; dim < 2; ++dim)
          rule.windows.push_back({0, dim, dim, 1, -halo, halo, 1, {}});
        ASSERT_TRUE(rule.bind({shape}, {shape}));
        OpSharding sharding{project(rule, rule.results[0], layout), {}, 0};
        Windows windows = operandWindows(rule, 0, sharding, shape, mesh);
        EXPECT_TRUE(verifyWindows(layout, shape, windows));
        EXPECT_EQ(haloElements(layout, shape, windows),
                  countedHalo(layout, shape, windows))
            << layout.spec_string() << " halo " << halo << " of " << shape[0]
            << "x" << shape[1];
        EXPECT_EQ(areWithinBlocks(layout, shape, windows),
                  haloAxes(layout, shape, windows).empty());
      }
}

TEST(WindowTest, HullAndCovers) {
  Mesh mesh = *Mesh::get({{"x", 2}});
  Layout rows = *Layout::get(mesh, {{0}, {}});
  Windows above{{{0, 5}, {4, 10}}, {}}, below{{{0, 6}, {5, 10}}, {}};
  Windows both = hull(rows, {10, 3}, above, below);
  EXPECT_EQ(to_string(both), "[0:6 4:10, *]");
  EXPECT_TRUE(covers(rows, {10, 3}, both, above));
  EXPECT_TRUE(covers(rows, {10, 3}, both, {}));
  EXPECT_FALSE(covers(rows, {10, 3}, above, below));
  EXPECT_EQ(hull(rows, {10, 3}, {}, above), above);
  EXPECT_EQ(heldShape(rows, {10, 3}, both), (Shape{6, 3}));
}

TEST(WindowTest, UsesShareWindowsWhereThatMovesNoMore) {
  Mesh mesh = *Mesh::get({{"x", 4}});
  Layout cut = *Layout::get(mesh, {{0}});
  // A stencil: what is read before and behind comes in one window.
  SharedWindows stencil(cut, {8});
  EXPECT_EQ(stencil.add({{{0, 1}, {1, 3}, {3, 5}, {5, 7}}}), 0u);
  EXPECT_EQ(stencil.add({{{1, 3}, {3, 5}, {5, 7}, {7, 8}}}), 0u);
  ASSERT_EQ(stencil.list().size(), 1u);
  EXPECT_EQ(to_string(stencil.list()[0]), "[0:3 1:5 3:7 5:8]");
  // A roll by three: the second device needs its first element from the end,
  // and not all that lies between.
  SharedWindows roll(cut, {8});
  EXPECT_EQ(roll.add({{{0, 0}, {0, 1}, {1, 3}, {3, 5}}}), 0u);
  EXPECT_EQ(roll.add({{{5, 7}, {7, 8}, {0, 0}, {0, 0}}}), 1u);
  EXPECT_EQ(to_string(roll.list()[1]), "[5:7 7:8 0:0 0:0]");
}

// Each of thousands takes as long as one of a few; all against all would take
// hours.
TEST(WindowTest, ThousandsOfUsesShareWindowsInLinearTime) {
  Mesh mesh = *Mesh::get({{"x", 2}});
  constexpr int64_t uses = 4000;
  SharedWindows windows(*Layout::get(mesh, {{0}}), {2 * uses});
  auto needed = [](int64_t i) {
    const int64_t begin = (2 * i * 1237) % (2 * uses);
    return Windows{{{begin, begin + 1}, {begin + 1, begin + 2}}};
  };
  std::vector<size_t> part;
  for (int64_t i = 0; i < uses; ++i)
    part.push_back(windows.add(needed(i)));
  for (int64_t i = 0; i < uses; ++i) {
    EXPECT_EQ(windows.add(needed(i)), part[size_t(i)]);
    const Windows &held = windows.list()[part[size_t(i)]];
    for (size_t shard = 0; shard < 2; ++shard)
      EXPECT_TRUE(held[0][shard].contains(needed(i)[0][shard]));
  }
}

TEST(WindowTest, WindowsThatDoNotFitAreRefused) {
  Mesh mesh = *Mesh::get({{"x", 2}});
  Layout rows = *Layout::get(mesh, {{0}});
  auto refused = [&](const Windows &windows) {
    return verifyWindows(rows, {10}, windows).error().message();
  };
  EXPECT_NE(refused({{{0, 5}}}).find("1 windows for 2 shards"),
            std::string::npos);
  EXPECT_NE(refused({{{0, 5}, {5, 11}}}).find("5:11 is not in dim 0"),
            std::string::npos);
  EXPECT_NE(refused({{}, {}}).find("rank 1"), std::string::npos);
}

TEST(WindowTest, TextFormComesBack) {
  for (std::string text : {"a{1:-1:1} b -> a b", "a{2:3:3:4}, a{-1:7:7} -> a",
                           "a b{take 2 0 -1} -> a b",
                           "a{1:-1:0}{take 0 3} -> a", "y{1:0:2} k, k -> y"}) {
    Result<ShardingRule> rule = ShardingRule::parse(text);
    ASSERT_TRUE(rule) << rule.error().message();
    EXPECT_EQ(rule->to_string(), text);
  }
  for (std::string text :
       {"a -> a{1:0:0}", "(a b{1:0:0}) -> a b", "a{1:0} -> a",
        "a{1:0:0:0} -> a", "a{take } -> a", "a{1:0:0 -> a"})
    EXPECT_FALSE(ShardingRule::parse(text)) << text;
}

/// The factor's size is the result's; the operand's dim may have any.
TEST(WindowTest, WindowedDimsDoNotSizeFactors) {
  ShardingRule rule = *ShardingRule::parse("a{2:1:1} b -> a b");
  ASSERT_TRUE(rule.bind({{9, 3}}, {{4, 3}}));
  EXPECT_EQ(rule.factors[0].size, 4);
  ShardingRule take = *ShardingRule::parse("a{take 0 1} -> a");
  EXPECT_FALSE(take.bind({{9}}, {{4}}));
}

TEST(WindowTest, OperandIsLaidOutByItsOwnBlocks) {
  Mesh mesh = *Mesh::get({{"x", 2}});
  ShardingRule rule = *ShardingRule::parse("a{1:3:3} -> a");
  ASSERT_TRUE(rule.bind({{10}}, {{4}}));
  Layout rows = *Layout::get(mesh, {{0}});
  std::vector<Layout> layouts{rows};
  OpSharding sharding = opSharding(rule, layouts, layouts);
  EXPECT_EQ(operandLayout(rule, 0, sharding, mesh), rows);
  // Elements 3 to 6: two are in the first device's block.
  EXPECT_EQ(to_string(operandWindows(rule, 0, sharding, {10}, mesh)),
            "[3:5 5:7]");
}

TEST(WindowTest, HaloExchangeIsPricedByWhatMoves) {
  Mesh mesh = *Mesh::get({{"x", 4}});
  Layout rows = *Layout::get(mesh, {{0}});
  CollectiveOp op{CollectiveKind::HaloExchange, {0}, rows, rows};
  EXPECT_TRUE(verify(op));
  EXPECT_EQ(bytesSent(op.kind, 80, 4), 80);
  MachineModel ring = *MachineModel::preset("ring");
  EXPECT_EQ(ring.transfer(op, 100, 4000), timeFor(100, 10'000'000'000));
  op.axes = {};
  EXPECT_FALSE(verify(op));
}

} // namespace
