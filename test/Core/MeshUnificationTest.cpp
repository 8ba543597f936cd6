// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MeshUnification and SubAxis: what meshes have in common, and what has no
// refinement.
#include "meshloom/Core/MeshUnification.h"
#include "meshloom/Core/Layout.h"

#include <gmock/gmock.h>

using namespace meshloom;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
MeshUnification unify(std::vector<SourceMesh> meshes,
                      const std::vector<AxisUse> &uses = {}) {
  return MeshUnification::of(std::move(meshes), uses).value_or_throw();
}

std::string refusal(std::vector<SourceMesh> meshes,
                    const std::vector<AxisUse> &uses = {}) {
  auto result = MeshUnification::of(std::move(meshes), uses);
  EXPECT_FALSE(result);
  return result ? "" : result.error().message();
}

/// Every unified axis tuple must select the digits that the source mesh's order
/// of devices says: checked against coordinates computed the long way.
void expectDigits(const MeshUnification &unification, const SourceMesh &mesh,
                  size_t index) {
  const Mesh &unified = unification.mesh();
  for (int64_t position = 0; position < unified.size(); ++position) {
    int64_t device =
        mesh.deviceIds.empty() ? position : mesh.deviceIds[size_t(position)];
    std::vector<int64_t> coords =
        unified.coords(unification.positionOf(device));
    int64_t remainder = position;
    for (size_t axis = mesh.axes.size(); axis-- > 0;) {
      int64_t expected = remainder % mesh.axes[axis].size, got = 0;
      remainder /= mesh.axes[axis].size;
      for (unsigned piece : unification.axes({index, {mesh.axes[axis].name}}))
        got = got * unified.axis_size(piece) + coords[piece];
      EXPECT_EQ(got, expected) << mesh.name << " position " << position;
    }
  }
}

// One mesh stays as it is, whatever the order of its devices.
TEST(MeshUnificationTest, OneMeshKeepsItsAxes) {
  SourceMesh mesh{"@m", {{"x", 2}, {"y", 4}}, {7, 6, 5, 4, 3, 2, 1, 0}};
  MeshUnification result = unify({mesh});
  EXPECT_EQ(result.mesh().spec_string(), "<x=2, y=4>");
  EXPECT_EQ(result.deviceAt(0), 7);
  expectDigits(result, mesh, 0);
}

// Axes of two meshes become sequences of the refinement's.
TEST(MeshUnificationTest, TwoFactorisationsAreRefined) {
  SourceMesh a{"@a", {{"x", 2}, {"y", 4}}}, b{"@b", {{"p", 4}, {"q", 2}}};
  MeshUnification result = unify({a, b});
  EXPECT_EQ(result.mesh().spec_string(), "<x=2, y:(1)2=2, y:(2)2=2>");
  EXPECT_THAT(result.axes({1, {"p"}}), ElementsAre(0, 1));
  EXPECT_THAT(result.axes({1, {"q"}}), ElementsAre(2));
  expectDigits(result, a, 0);
  expectDigits(result, b, 1);
}

// An order of devices that is a transpose permutes digits.
TEST(MeshUnificationTest, TransposedDeviceOrder) {
  SourceMesh a{"@a", {{"x", 2}, {"y", 4}}};
  SourceMesh b{"@b", {{"u", 4}, {"v", 2}}, {0, 4, 1, 5, 2, 6, 3, 7}};
  SourceMesh c{"@c", {{"all", 8}}, {0, 4, 1, 5, 2, 6, 3, 7}};
  MeshUnification result = unify({a, b, c});
  EXPECT_EQ(result.mesh().spec_string(), "<x=2, y=4>");
  EXPECT_THAT(result.axes({1, {"u"}}), ElementsAre(1));
  EXPECT_THAT(result.axes({2, {"all"}}), ElementsAre(1, 0));
  expectDigits(result, b, 1);
  expectDigits(result, c, 2);
}

// A part of an axis cuts it; the other parts are there too.
TEST(MeshUnificationTest, PartsOfAnAxis) {
  SourceMesh mesh{"@m", {{"x", 8}}};
  MeshUnification result = unify({mesh}, {{0, {"x", 2, 2}}});
  EXPECT_EQ(result.mesh().spec_string(), "<x:(1)2=2, x:(2)2=2, x:(4)2=2>");
  EXPECT_THAT(result.axes({0, {"x", 2, 2}}), ElementsAre(1));
  EXPECT_THAT(result.axes({0, {"x"}}), ElementsAre(0, 1, 2));
}

// Axes of size 1 cut nothing.
TEST(MeshUnificationTest, SizeOneAxesAreLeftOut) {
  MeshUnification result = unify({{"@m", {{"x", 8}, {"one", 1}}}});
  EXPECT_EQ(result.mesh().spec_string(), "<x=8>");
  EXPECT_THAT(result.axes({0, {"one"}}), ElementsAre());
  EXPECT_EQ(unify({{"@m", {{"x", 1}, {"y", 1}}}}).mesh().spec_string(),
            "<x=1>");
}

// A mesh of one device, with axes or without, fits beside any other, wherever
// it is declared; alone it is a program's mesh.
TEST(MeshUnificationTest, OneDeviceFitsBesideAnyMesh) {
  SourceMesh one{"@one", {{"d", 1}}}, maximal{"@maximal", {}, {3}},
      many{"@many", {{"x", 2}, {"y", 2}}, {0, 2, 1, 3}};
  MeshUnification result = unify({maximal, one, many});
  EXPECT_EQ(result.mesh().spec_string(), "<x=2, y=2>");
  EXPECT_THAT(result.axes({1, {"d"}}), ElementsAre());
  EXPECT_EQ(result.deviceAt(1), 2);
  expectDigits(result, many, 2);
  EXPECT_EQ(unify({maximal}).mesh().spec_string(), "<d=1>");
  EXPECT_EQ(unify({maximal, one}).mesh().size(), 1);
}

// Position i is the same device in meshes that are aligned.
TEST(MeshUnificationTest, AlignedMeshesNumberDevicesAlike) {
  MeshUnification result = unify({{"@a", {{"x", 2}, {"y", 2}}},
                                  {"@b", {{"z", 4}}},
                                  {"@c", {{"p", 2}, {"q", 2}}, {0, 2, 1, 3}},
                                  {"@one", {{"d", 1}}}});
  EXPECT_TRUE(result.isAligned(0));
  EXPECT_TRUE(result.isAligned(1));
  EXPECT_FALSE(result.isAligned(2));
  EXPECT_FALSE(result.isAligned(3));
}

Mesh mesh(std::vector<MeshAxis> axes) {
  return Mesh::get(std::move(axes)).value_or_throw();
}

// A layout in other axes gives every device the same shard.
TEST(MeshUnificationTest, LayoutsInAxesOfAnotherMesh) {
  Mesh a = mesh({{"x", 2}, {"y", 4}}), b = mesh({{"p", 4}, {"q", 2}}),
       fine = mesh({{"x", 2}, {"r", 2}, {"s", 2}}), one = mesh({{"z", 8}});
  auto text = [](const Layout &layout, const Mesh &on) {
    auto found = layoutOn(layout, on);
    return found ? found->spec_string() : "nothing";
  };
  Layout columns({UNSHARDED, "y"}, a);
  EXPECT_EQ(text(columns, fine), "[*, {r, s}]");
  EXPECT_EQ(text(columns, b), "nothing");
  EXPECT_EQ(text(Layout({UNSHARDED, Axes{"r", "s"}}, fine), a), "[*, y]");
  EXPECT_EQ(text(Layout({UNSHARDED, Axes{"s", "r"}}, fine), a), "nothing");
  EXPECT_EQ(text(Layout({"x", "r"}, fine), a), "nothing");
  EXPECT_EQ(text(Layout({Axes{"x", "y"}}, a), b), "[{p, q}]");
  EXPECT_EQ(text(Layout({Axes{"x", "y"}}, a), one), "[z]");
  EXPECT_EQ(text(Layout({UNSHARDED}, a, {{"y", ReduceKind::Max}}), fine),
            "[*] partial<r: max, s: max>");
  EXPECT_EQ(text(Layout({UNSHARDED}, fine,
                        {{"s", ReduceKind::Sum}, {"r", ReduceKind::Sum}}),
                 a),
            "[*] partial<y: sum>");
  EXPECT_EQ(text(columns, mesh({{"y", 4}})), "nothing");
  // Axes of size 1 come and go.
  EXPECT_EQ(text(Layout({"one", "w"}, mesh({{"one", 1}, {"w", 8}})), one),
            "[*, z]");
}

// Cutting in two steps is not cutting in one, where extents do not divide.
TEST(MeshUnificationTest, ShardsOfUnevenDimsDiffer) {
  Layout whole({"y"}, mesh({{"x", 2}, {"y", 4}}));
  Layout parts = *layoutOn(whole, mesh({{"x", 2}, {"r", 2}, {"s", 2}}));
  EXPECT_TRUE(haveSameShards(whole, parts, {12}));
  EXPECT_TRUE(haveSameShards(whole, parts, {7}));   // 2, 2, 2, 1 both
  EXPECT_FALSE(haveSameShards(whole, parts, {10})); // 3, 3, 3, 1; 3, 2, 3, 2
  EXPECT_FALSE(haveSameShards(whole, Layout({"x"}, whole.mesh()), {12}));
  EXPECT_FALSE(haveSameShards(
      whole, Layout({"y"}, whole.mesh(), {{"x", ReduceKind::Sum}}), {12}));
}

// Axes of one device leave a mesh, whose devices and names stay; of one device
// an axis stays.
TEST(MeshUnificationTest, AxesOfOneAreLeftOut) {
  Mesh mesh = Mesh::get({{"a", 1}, {"x", 2}, {"b", 1}, {"y", 3}, {"c", 1}},
                        {.name = "m"})
                  .value_or_throw();
  Mesh squeezed = withoutAxesOfOne(mesh);
  EXPECT_EQ(squeezed.spec_string(), "<x=2, y=3>");
  EXPECT_EQ(squeezed.name(), "m");
  EXPECT_EQ(withoutAxesOfOne(squeezed), squeezed);
  Mesh one = Mesh::get({{"a", 1}, {"b", 1}}).value_or_throw();
  EXPECT_EQ(withoutAxesOfOne(one).spec_string(), "<a=1>");

  // And layouts over both are the same blocks.
  Layout written({Axes{"x", "a"}, "b"}, mesh, {{"c", ReduceKind::Sum}});
  Layout now({"x", UNSHARDED}, squeezed);
  EXPECT_EQ(layoutOn(written, squeezed), now);
  EXPECT_TRUE(haveSameShards(written, now, {5, 3}));
}

TEST(MeshUnificationTest, MeshesThatCannotCoexistAreNamed) {
  EXPECT_THAT(
      refusal({{"@m", {{"x", 6}}}}, {{0, {"x", 1, 2}}, {0, {"x", 1, 3}}}),
      testing::AllOf(HasSubstr("'x:(1)2'"), HasSubstr("'x:(1)3'"),
                     HasSubstr("cannot coexist")));
  EXPECT_THAT(
      refusal({{"@a", {{"x", 2}, {"y", 3}}}, {"@b", {{"p", 3}, {"q", 2}}}}),
      testing::AllOf(HasSubstr("@a"), HasSubstr("@b"),
                     HasSubstr("cannot coexist")));
  EXPECT_THAT(refusal({{"@a", {{"x", 4}}}, {"@b", {{"p", 4}}, {0, 2, 3, 1}}}),
              testing::AllOf(HasSubstr("@a"), HasSubstr("@b"),
                             HasSubstr("not a refinement")));
  EXPECT_THAT(refusal({{"@a", {{"x", 4}}}, {"@b", {{"p", 8}}}}),
              HasSubstr("the same devices"));
  EXPECT_THAT(refusal({{"@a", {{"x", 4}}, {0, 1, 2, 2}}}),
              HasSubstr("each once"));
  EXPECT_THAT(refusal({{"@a", {{"x", 4}}, {0, 1, 2}}}),
              HasSubstr("3 device_ids"));
  EXPECT_THAT(refusal({{"@a", {{"x", 4}}}}, {{0, {"y"}}}),
              HasSubstr("no axis 'y'"));
  EXPECT_THAT(refusal({{"@a", {{"x", 4}}}}, {{0, {"x", 3, 2}}}),
              HasSubstr("not a part"));
  // 2^63 - 1 times 2 is -2.
  EXPECT_THAT(refusal({{"@a", {{"x", 4}}}}, {{0, {"x", INT64_MAX, 2}}}),
              HasSubstr("not a part"));
  EXPECT_THAT(refusal({{"@a", {{"x", 0}}}}), HasSubstr("sizes are at least 1"));
}

// Layouts read and print axes whose mesh is in parts.
TEST(SubAxisTest, NamesOfPartsAreMerged) {
  Mesh mesh = Mesh::get({{"x:(1)2", 2}, {"x:(2)2", 2}, {"x:(4)2", 2}, {"y", 3}})
                  .value_or_throw();
  EXPECT_EQ(Layout({"x", "y"}, mesh).spec_string(), "[x, y]");
  EXPECT_EQ(Layout({"x:(1)4", "x:(4)2"}, mesh).spec_string(),
            "[x:(1)4, x:(4)2]");
  EXPECT_EQ(Layout({Axes{"x:(2)2", "x:(1)2"}}, mesh).spec_string(),
            "[{x:(2)2, x:(1)2}]");
  EXPECT_EQ(Layout({UNSHARDED}, mesh, {{"x", ReduceKind::Sum}}).spec_string(),
            "[*] partial<x: sum>");
  EXPECT_FALSE(Layout::get({"x:(1)3"}, mesh));
  EXPECT_FALSE(Layout::get({"x:(1)8", "x:(4)2"}, mesh)); // used twice
}

TEST(SubAxisTest, PartsComeInOrder) {
  EXPECT_FALSE(Mesh::get({{"x:(2)2", 2}, {"x:(1)2", 2}}));
  EXPECT_FALSE(Mesh::get({{"x:(1)2", 2}, {"y", 2}, {"x:(2)2", 2}}));
  EXPECT_FALSE(Mesh::get({{"x:(1)2", 4}}));
  EXPECT_FALSE(Mesh::get({{"x", 2}, {"x:(1)2", 2}}));
  EXPECT_FALSE(Mesh::get({{"x:(1)", 2}}));
  EXPECT_TRUE(Mesh::get({{"x:(1)2", 2}, {"x:(2)3", 3}}));
}
} // namespace
