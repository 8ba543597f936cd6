// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clients of two processes, which are threads here, meet in a key-value store.
#include "meshloom/Runtime/Backends/PJRT/PluginClient.h"

#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshloom;
using testing::HasSubstr;

namespace {
using ClientResult = Result<std::shared_ptr<pjrt::PluginClient>>;

/// Creates the clients of two processes with these numbers of devices.
std::pair<ClientResult, ClientResult> createBoth(int64_t first,
                                                 int64_t second) {
  const pjrt::Plugin &plugin = **pjrt::Plugin::load(MESHLOOM_PLUGIN_PATH);
  auto store = std::make_shared<MemoryStore>();
  auto create = [&](int64_t process, int64_t devices) {
    return pjrt::PluginClient::create(plugin,
                                      {{"node_id", process},
                                       {"num_nodes", int64_t(2)},
                                       {"num_devices", devices}},
                                      store);
  };
  auto other = std::async(std::launch::async, create, 1, second);
  ClientResult client = create(0, first);
  return {std::move(client), other.get()};
}
} // namespace

TEST(ProcessesTest, EachClientHasTheDevicesOfAll) {
  const auto [first, second] = createBoth(2, 2);
  ASSERT_TRUE(first) << first.error().message();
  ASSERT_TRUE(second) << second.error().message();
  EXPECT_EQ((*first)->process(), 0);
  EXPECT_EQ((*second)->process(), 1);
  ASSERT_EQ((*second)->devices().size(), 2U);
  EXPECT_EQ((*second)->devices()[1].id, 3);
  EXPECT_EQ((*second)->devices()[1].hardwareId, 1);
  ASSERT_EQ((*second)->otherDevices().size(), 2U);
  EXPECT_EQ((*second)->otherDevices()[1].id, 1);
  EXPECT_EQ((*second)->otherDevices()[1].process, 0);
}

TEST(ProcessesTest, DifferentNumbersOfDevicesAreErrorsOfBoth) {
  const auto [first, second] = createBoth(2, 3);
  ASSERT_FALSE(first);
  ASSERT_FALSE(second);
  EXPECT_THAT(first.error().message(),
              HasSubstr("process 0 has 2, and process 1 has 3"));
  EXPECT_THAT(second.error().message(),
              HasSubstr("process 0 has 2, and process 1 has 3"));
}

TEST(ProcessesTest, ClientsWithoutAStoreAreErrors) {
  const pjrt::Plugin &plugin = **pjrt::Plugin::load(MESHLOOM_PLUGIN_PATH);
  const auto client = pjrt::PluginClient::create(
      plugin, {{"node_id", int64_t(0)}, {"num_nodes", int64_t(2)}});
  ASSERT_FALSE(client);
  EXPECT_THAT(client.error().message(), HasSubstr("key-value store"));
}
