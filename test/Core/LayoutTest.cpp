// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layout: its algebra against an independent brute force over every layout of
// small meshes, its string forms, and its errors.
#include "LayoutEnumeration.h"

#include <gmock/gmock.h>
#include <map>
#include <numeric>

using namespace meshloom;
using namespace meshloom::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

namespace {
/// The brute force: cuts a list of indices into consecutive pieces of equal
/// length, the last ones shorter or empty, and returns piece `which`.
std::vector<int64_t> piece(const std::vector<int64_t> &list, int64_t pieces,
                           int64_t which) {
  size_t length = 0;
  while (int64_t(length) * pieces < int64_t(list.size()))
    ++length;
  std::vector<int64_t> result;
  for (size_t i = 0; i < length; ++i)
    if (size_t index = size_t(which) * length + i; index < list.size())
      result.push_back(list[index]);
  return result;
}

/// The indices of one dim that a device holds, by definition.
std::vector<int64_t> indicesOf(const Layout &layout, unsigned dim,
                               int64_t extent, int64_t device) {
  std::vector<int64_t> list(extent);
  std::iota(list.begin(), list.end(), 0);
  // Coordinates by counting, not by Mesh::coords.
  const Mesh &mesh = layout.mesh();
  for (unsigned axis : layout.axes(dim)) {
    int64_t remainder = device;
    for (unsigned later = mesh.rank(); --later > axis;)
      remainder /= mesh.axis_size(later);
    list = piece(list, mesh.axis_size(axis), remainder % mesh.axis_size(axis));
  }
  return list;
}

/// `box` covers in dim `dim` exactly `indices`.
void expectCovers(const Box &box, unsigned dim,
                  const std::vector<int64_t> &indices,
                  const std::string &context) {
  ASSERT_EQ(box.extent[dim], int64_t(indices.size())) << context;
  for (size_t i = 0; i < indices.size(); ++i)
    ASSERT_EQ(box.offset[dim] + int64_t(i), indices[i]) << context;
}

// Shards, local shapes and evenness of one dim are what cutting lists gives.
TEST(LayoutPropertyTest, EveryLayoutOfOneDimMatchesBruteForce) {
  for (const Mesh &mesh : smallMeshes())
    forEachLayout(mesh, 1, ReduceKind::Sum, [&](const Layout &layout) {
      for (int64_t n = 0; n <= 17; ++n) {
        std::string context = layout.to_string() + " of " + std::to_string(n);
        int64_t largest = 0, smallest = n;
        for (int64_t device = 0; device < mesh.size(); ++device) {
          auto indices = indicesOf(layout, 0, n, device);
          Box box = layout.shard({n}, device);
          expectCovers(box, 0, indices, context);
          ASSERT_TRUE(Box::whole({n}).contains(box)) << context;
          largest = std::max(largest, int64_t(indices.size()));
          smallest = std::min(smallest, int64_t(indices.size()));
        }
        ASSERT_EQ(layout.local_shape({n}), Shape{largest}) << context;
        ASSERT_EQ(layout.shard({n}, 0).extent, Shape{largest}) << context;
        ASSERT_EQ(layout.is_even({n}), smallest == largest) << context;
      }
    });
}

// In two dims: every device's box is the product of its dims' lists; distinct
// shards tile the array exactly; replicas hold equal boxes.
TEST(LayoutPropertyTest, ShardsTileTheArray) {
  for (const Mesh &mesh : smallMeshes())
    forEachLayout(mesh, 2, ReduceKind::Max, [&](const Layout &layout) {
      auto shardIndex = layout.offset_to_shard();
      ASSERT_EQ(int64_t(shardIndex.size()), mesh.size());
      for (int64_t m : {0, 1, 2, 5, 7, 8, 17})
        for (int64_t n = 0; n <= 17; n += 1 + n / 9) {
          Shape global{m, n};
          std::vector<int> owners(m * n);
          std::map<std::vector<int64_t>, Box> shards;
          for (int64_t device = 0; device < mesh.size(); ++device) {
            Box box = layout.shard(global, device);
            expectCovers(box, 0, indicesOf(layout, 0, m, device), "rows");
            expectCovers(box, 1, indicesOf(layout, 1, n, device), "columns");
            auto [entry, fresh] = shards.emplace(shardIndex[device], box);
            ASSERT_EQ(entry->second, box) << "replicas differ";
            if (!fresh)
              continue;
            for (int64_t i = 0; i < box.extent[0]; ++i)
              for (int64_t j = 0; j < box.extent[1]; ++j)
                ++owners[(box.offset[0] + i) * n + box.offset[1] + j];
          }
          ASSERT_TRUE(std::all_of(owners.begin(), owners.end(), [](int count) {
            return count == 1;
          })) << layout.to_string();
          ASSERT_EQ(int64_t(shards.size()),
                    layout.num_shards(0) * layout.num_shards(1));
        }
    });
}

// Adding a minor axis only cuts the blocks that were there: relayouts to and
// from it are local.
TEST(LayoutPropertyTest, AMinorAxisSplitsWithinTheBlock) {
  for (const Mesh &mesh : smallMeshes())
    forEachLayout(mesh, 1, ReduceKind::Sum, [&](const Layout &layout) {
      auto axes = layout.dim_axes()[0];
      if (axes.empty())
        return;
      axes.pop_back();
      Layout outer = layout.with_dim(0, axes);
      for (int64_t n = 0; n <= 17; ++n)
        for (int64_t device = 0; device < mesh.size(); ++device)
          ASSERT_TRUE(
              outer.shard({n}, device).contains(layout.shard({n}, device)));
    });
}

// offset_to_shard counts the axes of a dim major to minor.
TEST(LayoutPropertyTest, OffsetToShardIsTheMixedRadixNumber) {
  for (const Mesh &mesh : smallMeshes())
    forEachLayout(mesh, 1, ReduceKind::Sum, [&](const Layout &layout) {
      // With one element per shard, the shard's offset is its number.
      int64_t shards = layout.num_shards(0);
      auto index = layout.offset_to_shard();
      for (int64_t device = 0; device < mesh.size(); ++device)
        ASSERT_EQ(layout.shard({shards}, device).offset[0], index[device][0]);
    });
}

// Every layout comes back from its string, equal and with an equal hash; and
// different layouts differ.
TEST(LayoutPropertyTest, StringRoundTrip) {
  for (const Mesh &mesh : smallMeshes())
    for (unsigned rank : {0u, 1u, 2u, 3u}) {
      std::map<std::string, Layout> seen;
      for (ReduceKind kind :
           {ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Min, ReduceKind::Max,
            ReduceKind::And, ReduceKind::Or})
        forEachLayout(mesh, rank, kind, [&](const Layout &layout) {
          std::string text = layout.to_string();
          auto back = Layout::from_string(text);
          ASSERT_TRUE(back) << back.error().what();
          ASSERT_EQ(*back, layout) << text;
          ASSERT_EQ(back->hash(), layout.hash());
          auto [entry, fresh] = seen.emplace(text, layout);
          ASSERT_EQ(entry->second, layout);
          if (layout.is_partial() && rank < 2 && kind == ReduceKind::Sum)
            for (const auto &[other, value] : seen)
              ASSERT_EQ(other == text, value == layout);
        });
    }
}

// The specs of a layout make the same layout again.
TEST(LayoutPropertyTest, SpecsRoundTrip) {
  for (const Mesh &mesh : smallMeshes())
    forEachLayout(mesh, 2, ReduceKind::Sum, [&](const Layout &layout) {
      ASSERT_EQ(Layout(layout.sharding_specs(), mesh),
                layout.without_partial());
    });
}

TEST(LayoutTest, LocalShapeOfUnevenDimRoundsUp) {
  Mesh mesh = makeMesh({2, 4});
  EXPECT_EQ(Layout({"y", UNSHARDED}, mesh).local_shape({10, 3}), Shape({3, 3}));
  EXPECT_EQ(Layout({Axes{"x", "y"}}, mesh).local_shape({10}), Shape({2}));
  EXPECT_EQ(Layout({"y"}, mesh).local_shape({0}), Shape({0}));
}

// The example of the header: short and empty last shards, nested.
TEST(LayoutTest, NestedSplitOfTenOverTwoByFour) {
  Layout layout({Axes{"x", "y"}}, makeMesh({2, 4}));
  std::vector<std::pair<int64_t, int64_t>> shards;
  for (int device = 0; device < 8; ++device) {
    Box box = layout.shard({10}, device);
    shards.emplace_back(box.offset[0], box.extent[0]);
  }
  EXPECT_THAT(shards,
              ElementsAre(std::pair(0, 2), std::pair(2, 2), std::pair(4, 1),
                          std::pair(5, 0), std::pair(5, 2), std::pair(7, 2),
                          std::pair(9, 1), std::pair(10, 0)));
}

TEST(LayoutTest, Builders) {
  Mesh mesh = makeMesh({2, 4});
  EXPECT_EQ(Layout::replicated(mesh, 2), Layout({UNSHARDED, UNSHARDED}, mesh));
  EXPECT_EQ(Layout::batch_sharded(mesh, "x", 3),
            Layout({"x", UNSHARDED, UNSHARDED}, mesh));
  EXPECT_EQ(Layout::batch_sharded(mesh, "x", 2, 1),
            Layout({UNSHARDED, "x"}, mesh));
  EXPECT_EQ(Layout::inner_sharded(mesh, "y", 2),
            Layout({UNSHARDED, "y"}, mesh));
  EXPECT_TRUE(Layout::replicated(mesh, 2).is_fully_replicated());
  EXPECT_FALSE(
      Layout({}, mesh, {{"x", ReduceKind::Sum}}).is_fully_replicated());
  EXPECT_TRUE(Layout({}, mesh, {{"x", ReduceKind::Sum}}).uses_axis(0));
}

// remove drops dims; TensorFlow calls it delete.
TEST(LayoutTest, RemoveFreesTheAxes) {
  Mesh mesh = makeMesh({2, 4});
  Layout layout({"x", UNSHARDED, "y"}, mesh);
  EXPECT_EQ(layout.remove({0}), Layout({UNSHARDED, "y"}, mesh));
  EXPECT_EQ(layout.remove({2, 0}), Layout({UNSHARDED}, mesh));
  EXPECT_EQ(layout.remove({}), layout);
  EXPECT_THROW(layout.remove({3}), Error);
}

TEST(LayoutTest, SpecStringIsTheIRForm) {
  Mesh mesh = makeMesh({2, 2, 2});
  EXPECT_EQ(Layout({"x", UNSHARDED, Axes{"z", "y"}}, mesh).spec_string(),
            "[x, *, {z, y}]");
  EXPECT_EQ(Layout({UNSHARDED}, mesh,
                   {{"z", ReduceKind::Max}, {"x", ReduceKind::Max}})
                .spec_string(),
            "[*] partial<x: max, z: max>");
  EXPECT_EQ(Layout({}, mesh).spec_string(), "[]");
}

/// The message of the Error that `make` throws.
std::string refusal(const std::function<void()> &make) {
  try {
    make();
  } catch (const Error &error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(LayoutTest, ErrorsNameAxesAndDims) {
  Mesh mesh = makeMesh({2, 4});
  EXPECT_THAT(refusal([&] { Layout({"x", "z"}, mesh); }),
              StartsWith("[Layout] 'z' (dim 1) must be an axis of mesh <x=2, "
                         "y=4> or UNSHARDED; its axes are x, y (at "));
  EXPECT_THAT(refusal([&] { Layout({"x", "x"}, mesh); }),
              StartsWith("[Layout] mesh axis 'x' is used twice (dim 0 and dim "
                         "1); mesh axes must be unique in a layout (at "));
  EXPECT_THAT(refusal([&] { Layout({Axes{"x", "x"}}, mesh); }),
              HasSubstr("used twice (dim 0 and dim 0)"));
  EXPECT_THAT(refusal([&] { Layout({"x"}, mesh, {{"x", ReduceKind::Sum}}); }),
              HasSubstr("used twice (dim 0 and partial)"));
  EXPECT_THAT(refusal([&] { Layout({}, mesh, {{"q", ReduceKind::Sum}}); }),
              HasSubstr("'q' (partial)"));
  EXPECT_THAT(refusal([&] {
                Layout({}, mesh,
                       {{"x", ReduceKind::Sum}, {"y", ReduceKind::Max}});
              }),
              HasSubstr("over 'x' with sum and over 'y' with max"));
  EXPECT_THAT(refusal([&] { Layout::batch_sharded(mesh, "x", 2, 2); }),
              HasSubstr("no dim 2"));
  EXPECT_THAT(refusal([&] { Layout::inner_sharded(mesh, "x", 0); }),
              HasSubstr("rank 0"));
  EXPECT_THAT(refusal([&] { Layout::replicated(mesh, unsigned(-1)); }),
              HasSubstr("expected a rank of at least 0, got -1"));
  EXPECT_THAT(refusal([&] { Layout({"x"}, Mesh()); }),
              HasSubstr("expected a mesh, got an empty one"));
  EXPECT_THAT(refusal([&] { Layout({"x"}, mesh).local_shape({4, 4}); }),
              HasSubstr("rank 1, but the global shape [4, 4] has rank 2"));
  EXPECT_THAT(refusal([&] { Layout({"x"}, mesh).num_shards(1); }),
              HasSubstr("no dim 1"));
  EXPECT_THAT(refusal([&] { Layout({"x", UNSHARDED}, mesh).with_dim(1, {0}); }),
              HasSubstr("used twice"));
  auto unknown = Layout::get(mesh, {{7}});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message(), HasSubstr("axis number 7"));
}

TEST(LayoutTest, RefusesBadStrings) {
  for (std::string text :
       {"", "x", "sharding_specs:", "sharding_specs:x,", "sharding_specs:x",
        "sharding_specs:x, ", "sharding_specs:x mesh:|x=2|*CPU",
        "sharding_specs:,x, mesh:|x=2|*CPU",
        "sharding_specs:{x, mesh:|x=2|*CPU",
        "sharding_specs:{x;}, mesh:|x=2|*CPU", "sharding_specs:x, mesh:nothing",
        "sharding_specs:x, |x=2|*CPU", "sharding_specs:q, mesh:|x=2|*CPU",
        "sharding_specs: partial: mesh:|x=2|*CPU",
        "sharding_specs: partial:x mesh:|x=2|*CPU",
        "sharding_specs: partial:x=mean mesh:|x=2|*CPU",
        "sharding_specs: partial:x=summesh:|x=2|*CPU",
        "sharding_specs:x, partial:x=sum mesh:|x=2|*CPU"}) {
    auto layout = Layout::from_string(text);
    EXPECT_FALSE(layout) << text;
  }
}

TEST(BoxTest, SetOperations) {
  Box a{{0, 0}, {4, 4}}, b{{2, 3}, {4, 4}}, none{{9, 9}, {0, 4}};
  EXPECT_EQ(a.intersect(b), (Box{{2, 3}, {2, 1}}));
  EXPECT_EQ(a.hull(b), (Box{{0, 0}, {6, 7}}));
  EXPECT_EQ(a.hull(none), a);
  EXPECT_EQ(none.hull(a), a);
  EXPECT_TRUE(a.contains(none));
  EXPECT_TRUE(a.contains(a));
  EXPECT_FALSE(a.contains(b));
  EXPECT_TRUE(a.intersect({{4, 0}, {2, 2}}).empty());
  EXPECT_EQ(Box::whole({}).count(), 1);
  EXPECT_FALSE(Box::whole({}).empty());
}

TEST(DTypeTest, NamesRoundTrip) {
  for (unsigned i = 0; i <= unsigned(lastDType); ++i)
    EXPECT_EQ(parseDType(name(DType(i))), DType(i));
  EXPECT_EQ(byteWidth(DType::C128), 16u);
  EXPECT_EQ(partOf(DType::C64), DType::F32);
  EXPECT_TRUE(isComplex(DType::C64) && !isFloat(DType::C64));
  EXPECT_FALSE(parseDType("f8"));
  EXPECT_EQ(byteWidth(DType::BF16), 2u);
  EXPECT_EQ(byteWidth(DType::I1), 1u);
  EXPECT_TRUE(isFloat(DType::BF16));
  EXPECT_FALSE(isInteger(DType::I1));
  EXPECT_FALSE(isSigned(DType::UI8));
  EXPECT_TRUE(isInteger(DType::UI8));
}

} // namespace
