// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The algebra of meshes and layouts that TensorFlow DTensor's own tests check.
// The mesh is x=2, y=4 unless a test says otherwise. Tests of values are in
// test/API/DTensorBehaviourTest.cpp.
#include "LayoutEnumeration.h"

#include <gmock/gmock.h>

using namespace meshloom;
using namespace meshloom::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
std::string device(int id, const std::string &type = "CPU") {
  return "/job:localhost/replica:0/task:0/device:" + type + ":" +
         std::to_string(id);
}

std::string refusal(const Result<Mesh> &mesh) {
  EXPECT_FALSE(mesh);
  return mesh ? "" : mesh.error().message();
}

TEST(DTensorLayoutsTest, MeshStringRoundTrip) {
  std::string text = "mesh|x=2,y=2|0,1,2,3|0,1,2,3|" + device(0) + "," +
                     device(1) + "," + device(2) + "," + device(3);
  auto mesh = Mesh::from_string(text);
  ASSERT_TRUE(mesh) << mesh.error().what();
  EXPECT_EQ(mesh->to_string(), text);
  EXPECT_EQ(*mesh, *Mesh::get({{"x", 2}, {"y", 2}}, {.name = "mesh"}));
}

// For TPU meshes only, as in TensorFlow; the flag and the global devices
// survive the round trip, alone and together.
TEST(DTensorLayoutsTest, UseXlaSpmdString) {
  std::string local =
      "m|x=2|0,1|0,1|" + device(0, "TPU") + "," + device(1, "TPU");
  for (std::string text :
       {local + "|use_xla_spmd",
        local + "|" + device(0, "TPU") + "," + device(1, "TPU"),
        local + "|" + device(0, "TPU") + "," + device(1, "TPU") +
            "|use_xla_spmd"}) {
    auto mesh = Mesh::from_string(text);
    ASSERT_TRUE(mesh) << mesh.error().what();
    EXPECT_EQ(mesh->to_string(), text);
    EXPECT_EQ(mesh->use_xla_spmd(), text.ends_with("use_xla_spmd"));
    EXPECT_EQ(mesh->device_type(), "TPU");
  }
}

TEST(DTensorLayoutsTest, StridesAreRowMajor) {
  auto strides = [](std::vector<int64_t> sizes) {
    std::vector<MeshAxis> axes;
    for (int64_t size : sizes)
      axes.push_back({"a" + std::to_string(axes.size()), size});
    return Mesh::get(axes)->strides();
  };
  EXPECT_THAT(strides({2, 4, 2}), ElementsAre(8, 2, 1));
  EXPECT_THAT(strides({8, 16, 2, 4}), ElementsAre(128, 8, 4, 1));
}

TEST(DTensorLayoutsTest, CoordsWrapPastTheSize) {
  Mesh mesh = makeMesh({2, 4});
  EXPECT_THAT(mesh.coords(6), ElementsAre(1, 2));
  EXPECT_EQ(mesh.coords(8 + 6), mesh.coords(6));
}

TEST(DTensorLayoutsTest, MeshErrors) {
  EXPECT_THAT(refusal(Mesh::get(
                  {{"x", 2}}, {.localDevices = {device(0), device(1, "GPU")}})),
              HasSubstr("all devices of a mesh have one type"));
  EXPECT_THAT(
      refusal(Mesh::get({{"x", 2}}, {.localDevices = {device(0), device(0)}})),
      HasSubstr("appears twice"));
  EXPECT_THAT(refusal(Mesh::get({{"x", 2}}, {.globalDeviceIds = {1, 0}})),
              HasSubstr("must increase by one"));
  EXPECT_THAT(refusal(Mesh::get({{"x", 2}}, {.useXlaSpmd = true})),
              HasSubstr("use_xla_spmd is for TPU meshes"));
}

// One unsharded dim is not the same as no dim.
TEST(DTensorLayoutsTest, UnshardedIsNotEmpty) {
  Mesh mesh = makeMesh({2, 4});
  Layout vector({UNSHARDED}, mesh), scalar({}, mesh);
  EXPECT_NE(vector, scalar);
  EXPECT_EQ(vector.to_string(),
            "sharding_specs:unsharded, mesh:" + mesh.to_string());
  EXPECT_EQ(scalar.to_string(), "sharding_specs: mesh:" + mesh.to_string());
  EXPECT_EQ(*Layout::from_string(vector.to_string()), vector);
  EXPECT_EQ(*Layout::from_string(scalar.to_string()), scalar);
}

TEST(DTensorLayoutsTest, RepeatedOrUnknownSpec) {
  Mesh mesh = makeMesh({2, 4});
  EXPECT_THROW(Layout({"x", "x"}, mesh), Error);
  EXPECT_THROW(Layout({"x", "rows"}, mesh), Error);
  EXPECT_FALSE(Layout::get({"x", "x"}, mesh));
}

// A mesh and a layout survive being written and read, as with pickle.
TEST(DTensorLayoutsTest, WrittenAndReadBack) {
  Mesh mesh = makeMesh({2, 4});
  Layout layout({Axes{"y", "x"}, UNSHARDED}, mesh);
  EXPECT_EQ(*Mesh::from_string(mesh.to_string()), mesh);
  EXPECT_EQ(Mesh::from_string(mesh.to_string())->hash(), mesh.hash());
  EXPECT_EQ(*Layout::from_string(layout.to_string()), layout);
  EXPECT_EQ(Layout::from_string(layout.to_string())->hash(), layout.hash());
}

TEST(DTensorLayoutsTest, SingleDevice) {
  Mesh mesh = makeMesh({1});
  EXPECT_TRUE(mesh.is_single_device());
  EXPECT_EQ(*Mesh::from_string(mesh.to_string()), mesh);
  Layout layout = Layout::replicated(mesh, 2);
  EXPECT_EQ(*Layout::from_string(layout.to_string()), layout);
  EXPECT_EQ(layout.shard({3, 4}, 0), Box::whole({3, 4}));
}

// The core of create_mesh: an ordered list, one size of -1, a wrong size.
TEST(DTensorLayoutsTest, MeshFromSizesAndDevices) {
  MeshOptions six;
  for (int i = 0; i < 6; ++i)
    six.localDevices.push_back(device(i));
  EXPECT_EQ(Mesh::get({{"x", 2}, {"y", 3}}, six)->size(), 6);
  EXPECT_EQ(Mesh::get({{"x", 2}, {"y", -1}}, six)->axis_size("y"), 3);
  EXPECT_THAT(refusal(Mesh::get({{"x", 2}, {"y", 4}}, six)),
              HasSubstr("must equal the product of the sizes"));
  EXPECT_THAT(Mesh::get({{"y", 3}, {"x", 2}}, six)->axis_names(),
              ElementsAre("y", "x"));
}

// [1, 2] and [3, 4] on x=2 are the shards of a vector of 4.
TEST(DTensorLayoutsTest, ShardsOfABatchShardedVector) {
  Layout layout = Layout::batch_sharded(makeMesh({2}), "x", 1);
  EXPECT_EQ(layout.local_shape({4}), Shape({2}));
  EXPECT_EQ(layout.shard({4}, 0), (Box{{0}, {2}}));
  EXPECT_EQ(layout.shard({4}, 1), (Box{{2}, {2}}));
}

TEST(DTensorLayoutsTest, ScalarNeedsALayoutOfRankZero) {
  Mesh mesh = makeMesh({2, 4});
  EXPECT_EQ(Layout({}, mesh).local_shape({}), Shape());
  EXPECT_THROW(Layout({UNSHARDED}, mesh).local_shape({}), Error);
}

TEST(DTensorLayoutsTest, ShardsOfRankThree) {
  Layout layout = Layout::batch_sharded(makeMesh({2}), "x", 3);
  EXPECT_EQ(layout.local_shape({4, 2, 3}), Shape({2, 2, 3}));
  EXPECT_EQ(layout.shard({4, 2, 3}, 1), (Box{{2, 0, 0}, {2, 2, 3}}));
}

// Which components must agree: devices with the same shard. (TensorFlow does
// not look; test/API checks that pack refuses.)
TEST(DTensorLayoutsTest, ReplicasAreTheDevicesWithOneShard) {
  auto shards = Layout({"x"}, makeMesh({2, 4})).offset_to_shard();
  for (int device = 0; device < 8; ++device)
    EXPECT_THAT(shards[device], ElementsAre(device / 4));
}

} // namespace
