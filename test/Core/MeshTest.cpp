// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mesh: its algebra, its string forms, and every way to get one wrong.
#include "meshloom/Core/Mesh.h"

#include <gmock/gmock.h>

using namespace meshloom;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
Mesh mesh(std::vector<MeshAxis> axes, MeshOptions options = {}) {
  return Mesh::get(std::move(axes), std::move(options)).value_or_throw();
}

/// The message of a mesh that must be refused.
std::string refusal(std::vector<MeshAxis> axes, MeshOptions options = {}) {
  auto result = Mesh::get(std::move(axes), std::move(options));
  EXPECT_FALSE(result);
  return result ? "" : result.error().message();
}

/// Meshes of up to 8 devices, of 1 to 3 axes.
std::vector<std::vector<MeshAxis>> smallMeshes() {
  std::vector<std::vector<MeshAxis>> meshes;
  for (int64_t n = 1; n <= 8; ++n)
    meshes.push_back({{"x", n}});
  for (int64_t x = 1; x <= 8; ++x)
    for (int64_t y = 1; x * y <= 8; ++y) {
      meshes.push_back({{"x", x}, {"y", y}});
      for (int64_t z = 1; x * y * z <= 8; ++z)
        meshes.push_back({{"x", x}, {"y", y}, {"z", z}});
    }
  return meshes;
}

// coords and device_at are inverse, and count devices row-major.
TEST(MeshTest, CoordsAndDeviceAtAreInverse) {
  for (const auto &axes : smallMeshes()) {
    Mesh m = mesh(axes);
    std::vector<int64_t> expected(m.rank());
    for (int64_t device = 0; device < m.size(); ++device) {
      EXPECT_EQ(m.coords(device), expected);
      EXPECT_EQ(m.device_at(expected), device);
      for (unsigned i = m.rank(); i-- > 0;) {
        if (++expected[i] < m.axis_size(i))
          break;
        expected[i] = 0;
      }
    }
  }
}

// Every mesh comes back from its string, equal and with an equal hash.
TEST(MeshTest, StringRoundTrip) {
  for (const auto &axes : smallMeshes())
    for (int64_t firstId : {0, 8}) {
      MeshOptions options{.name = "m"};
      int64_t size = mesh(axes).size();
      for (int64_t i = 0; i < size; ++i)
        options.globalDeviceIds.push_back(firstId + i);
      Mesh m = mesh(axes, options);
      auto back = Mesh::from_string(m.to_string());
      ASSERT_TRUE(back) << back.error().what();
      EXPECT_EQ(*back, m) << m.to_string();
      EXPECT_EQ(back->hash(), m.hash());
      EXPECT_EQ(back->to_string(), m.to_string());
    }
}

// A mesh is its content: how it was made does not matter.
TEST(MeshTest, EqualityIsByContent) {
  Mesh derived = mesh({{"x", 2}});
  Mesh explicitDevices =
      mesh({{"x", 2}},
           {.localDevices = {"/job:localhost/replica:0/task:0/device:CPU:0",
                             "/job:localhost/replica:0/task:0/device:CPU:1"}});
  EXPECT_EQ(derived, explicitDevices);
  EXPECT_NE(derived, mesh({{"x", 2}}, {.name = "other"}));
  EXPECT_NE(derived, mesh({{"y", 2}}));
  EXPECT_NE(derived, mesh({{"x", 2}}, {.deviceType = "GPU"}));
  EXPECT_NE(derived, mesh({{"x", 2}}, {.localDeviceIds = {0}}));
  EXPECT_NE(derived, mesh({{"x", 2}, {"y", 1}}));
}

TEST(MeshTest, AccessorsOfAnAxis) {
  Mesh m = mesh({{"x", 2}, {"y", 4}});
  EXPECT_EQ(m.size(), 8);
  EXPECT_EQ(m.axis_size("y"), 4);
  EXPECT_EQ(m.axis_index("y"), 1u);
  EXPECT_TRUE(m.contains_axis("x"));
  EXPECT_FALSE(m.contains_axis("z"));
  EXPECT_FALSE(m.axis_index("z"));
  EXPECT_THAT(m.axis_names(), ElementsAre("x", "y"));
  EXPECT_EQ(m.spec_string(), "<x=2, y=4>");
  EXPECT_EQ(m.device_type(), "CPU");
}

// A misspelt axis is answered with the axes that exist.
TEST(MeshTest, UnknownAxisNamesTheAxesThereAre) {
  try {
    mesh({{"batch", 2}, {"model", 4}}).axis_size("modle");
    FAIL();
  } catch (const Error &error) {
    EXPECT_TRUE(error.message().starts_with(
        "[Mesh] there is no axis 'modle' in mesh <batch=2, model=4>; "
        "its axes are batch, model (at "))
        << error.what();
  }
}

TEST(MeshTest, OneSizeMayBeLeftOpen) {
  MeshOptions eight{.localDevices = {}};
  for (int i = 0; i < 8; ++i)
    eight.localDevices.push_back("CPU:" + std::to_string(i));
  EXPECT_EQ(mesh({{"x", 2}, {"y", -1}}, eight).axis_size("y"), 4);
  EXPECT_EQ(mesh({{"x", -1}}, eight).size(), 8);
  EXPECT_THAT(refusal({{"x", 3}, {"y", -1}}, eight),
              HasSubstr("8 devices cannot be divided"));
  EXPECT_THAT(refusal({{"x", -1}, {"y", -1}}, eight),
              HasSubstr("only one size"));
  EXPECT_THAT(refusal({{"x", -1}}), HasSubstr("no devices are given"));
}

TEST(MeshTest, RefusesBadAxes) {
  EXPECT_THAT(refusal({}), HasSubstr("at least one axis"));
  EXPECT_THAT(refusal({{"x", 2}, {"x", 2}}), HasSubstr("'x' appears twice"));
  for (const char *reserved : {"any", "match", "unsharded"})
    EXPECT_THAT(refusal({{reserved, 2}}), HasSubstr("reserved"));
  for (const char *odd : {"", "2x", "a b", "a,b", "a|b", "*"})
    EXPECT_THAT(refusal({{odd, 2}}), HasSubstr("not an identifier"));
  EXPECT_THAT(refusal({{"x", 0}}), HasSubstr("'x' has size 0"));
  EXPECT_THAT(refusal({{"x", -2}}), HasSubstr("'x' has size -2"));
  EXPECT_THAT(refusal({{"x", int64_t(1) << 40}, {"y", int64_t(1) << 40}}),
              HasSubstr("more than 65536 devices"));
}

TEST(MeshTest, RefusesBadIds) {
  EXPECT_THAT(refusal({{"x", 3}}, {.globalDeviceIds = {0, 1}}),
              HasSubstr("2 device ids are given, but the axes <x=3> need 3"));
  EXPECT_THAT(refusal({{"x", 2}}, {.globalDeviceIds = {1, 0}}),
              HasSubstr("must increase by one, but 0 follows 1"));
  EXPECT_THAT(refusal({{"x", 2}}, {.globalDeviceIds = {0, 2}}),
              HasSubstr("must increase by one"));
  EXPECT_THAT(refusal({{"x", 2}}, {.globalDeviceIds = {-1, 0}}),
              HasSubstr("negative"));
  EXPECT_THAT(refusal({{"x", 2}}, {.localDeviceIds = {2}}),
              HasSubstr("local device id 2 is not one of the global ids"));
  EXPECT_THAT(refusal({{"x", 2}}, {.localDeviceIds = {1, 1}}),
              HasSubstr("must increase"));
}

TEST(MeshTest, RefusesBadDevices) {
  EXPECT_THAT(refusal({{"x", 2}}, {.localDevices = {"CPU:0", "GPU:1"}}),
              HasSubstr("'GPU:1' is of type GPU, but the mesh is of type CPU"));
  EXPECT_THAT(refusal({{"x", 2}}, {.localDevices = {"CPU:0", "CPU:0"}}),
              HasSubstr("'CPU:0' appears twice"));
  EXPECT_THAT(refusal({{"x", 4}}, {.localDevices = {"CPU:0", "CPU:1"}}),
              HasSubstr("2 devices are given for the 4 local devices"));
  EXPECT_THAT(refusal({{"x", 1}}, {.localDevices = {"my computer"}}),
              HasSubstr("not a device name"));
  EXPECT_THAT(
      refusal({{"x", 1}}, {.deviceType = "GPU", .localDevices = {"CPU:0"}}),
      HasSubstr("is of type CPU, but the mesh is of type GPU"));
}

// One process of several: ids go on over processes, some are local.
TEST(MeshTest, LocalPartOfALargerMesh) {
  Mesh m = mesh({{"x", 2}, {"y", 2}},
                {.globalDeviceIds = {4, 5, 6, 7}, .localDeviceIds = {6, 7}});
  EXPECT_EQ(m.num_local_devices(), 2);
  EXPECT_EQ(m.min_global_device_id(), 4);
  EXPECT_THAT(m.local_device_locations(),
              ElementsAre(ElementsAre(1, 0), ElementsAre(1, 1)));
  EXPECT_FALSE(m.is_remote());
  Mesh remote = mesh({{"x", 2}}, {.remote = true});
  EXPECT_TRUE(remote.is_remote());
  EXPECT_EQ(*Mesh::from_string(remote.to_string()), remote);
}

TEST(MeshTest, ReadsTheShorthand) {
  auto m = Mesh::from_string("m|x=2,y=2|*GPU");
  ASSERT_TRUE(m);
  EXPECT_EQ(m->name(), "m");
  EXPECT_EQ(m->local_devices()[3],
            "/job:localhost/replica:0/task:0/device:GPU:3");
}

TEST(MeshTest, RefusesBadStrings) {
  for (const char *text :
       {"", "m", "m|x=2", "m|x=2|0,1", "m|x=2|0,1|0,1", "m|x|0|0|CPU:0",
        "m|x=a|0|0|CPU:0", "m|x=1|z|0|CPU:0", "m|x=1|0|0|", "m|x=1||0|CPU:0",
        "m|x=2|*", "m|=2|*CPU", "m||*CPU", "m|x=2|*C U",
        "m|x=1|0|0|CPU:0|CPU:0|nonsense", "m|x=1|0|0|CPU:0|CPU:0|a|b"}) {
    auto m = Mesh::from_string(text);
    ASSERT_FALSE(m) << text;
    EXPECT_THAT(m.error().message(), HasSubstr("[Mesh]"));
  }
}

} // namespace
