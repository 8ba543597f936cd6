// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PJRT plug-ins in several processes: ours for tests, which tells itself in the
// others, by the coordination service, how many devices it has.
#include "../Distribute/Testing.h"
#include "../TemporaryFolder.h"
#include "meshloom/API/Devices.h"
#include "meshloom/API/Processes.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshloom {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(PluginsOfProcessesTest, DevicesOfAllAreNamedAndOwnOnesUsed) {
  const std::string type = "XLA_CPU";
  const std::vector<DeviceSpec> devices =
      connect_platform(std::string("pjrt:") + MESHLOOM_FAULTY_PLUGIN_PATH);
  ASSERT_EQ(int64_t(devices.size()), 4 * num_clients());
  for (int64_t i = 0; i < 4 * num_clients(); ++i)
    EXPECT_EQ(devices[size_t(i)], (DeviceSpec{type, i % 4, i / 4}));
  EXPECT_EQ(list_logical_devices(type), devices);
  EXPECT_EQ(num_global_devices(type), 4 * num_clients());
  EXPECT_EQ(num_local_devices(type), 4);

  // The devices of this process: by name, or a single one.
  const Mesh here = create_mesh({{"x", 4}}, local_devices(type));
  EXPECT_EQ(here.num_local_devices(), 4);
  const Tensor x =
      distribute(iota({8}, 0, DType::F32), Layout::batch_sharded(here, "x", 1));
  EXPECT_EQ(x.to_vector<float>()[7], 7);
  EXPECT_EQ(create_mesh({{"x", 1}}, {{type, 3}}).local_devices()[0],
            full_job_name(client_id()).insert(0, "/job:") + "/device:" + type +
                ":3");

  // Others are there, and are not silently each process's own.
  const auto refused = AllOf(HasSubstr("expected devices of this process"),
                             HasSubstr("take local_devices(\"XLA_CPU\")"));
  EXPECT_THAT(errorOf([&] { create_mesh({{"x", -1}}, devices); }), refused);
  EXPECT_THAT(errorOf([&] { create_mesh({{"x", 2}}, {{type, 0}, {type, 1}}); }),
              refused);
  const int64_t next = (client_id() + 1) % num_clients();
  EXPECT_THAT(errorOf([&] { create_mesh({{"x", 1}}, {{type, 0, next}}); }),
              refused);
}

// One of them, as that plug-in is told to, says nothing: the others name it.
TEST(PluginsOfProcessesTest, AProcessThatSaysNothingIsMissed) {
  const test::TemporaryFolder folder;
  const std::filesystem::path copy = folder / "silent.so";
  std::filesystem::copy_file(MESHLOOM_FAULTY_PLUGIN_PATH, copy);
  setenv("MESHLOOM_FAULTY_PLUGIN", "silent:1", 1);
  const std::string error =
      errorOf([&] { connect_platform("pjrt:" + copy.string()); });
  unsetenv("MESHLOOM_FAULTY_PLUGIN");
  if (client_id() == 1) // it has heard the others; there is one such type
    EXPECT_THAT(error, HasSubstr("only one platform of a type"));
  else
    EXPECT_THAT(error, AllOf(HasSubstr("DEADLINE_EXCEEDED"),
                             HasSubstr("pjrt/silent.so/0/devices%20of%0A1")));
}

} // namespace
} // namespace meshloom
