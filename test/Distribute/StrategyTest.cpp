// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strategies: their devices, scopes, and what is logged. Numbers are those of
// the facts about tf.distribute that docs/Strategies.md lists.
#include "Testing.h"

#include <thread>

namespace meshloom {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// ---- Scopes (1, 2)

TEST(StrategyTest, OutsideOfScopesTheStrategyIsTheDefault) {
  EXPECT_FALSE(has_strategy());
  EXPECT_EQ(get_strategy(), get_strategy());
  EXPECT_EQ(get_strategy().num_replicas_in_sync(), 1);
  EXPECT_FALSE(get_strategy().mesh());
  EXPECT_FALSE(get_strategy().batch_layout(2));
  EXPECT_FALSE(in_cross_replica_context());
}

TEST(StrategyTest, AScopeIsOfItsThreadAndEnds) {
  MirroredStrategy strategy(cpus(2));
  {
    auto scope = strategy.scope();
    EXPECT_TRUE(has_strategy());
    EXPECT_EQ(get_strategy(), strategy);
    EXPECT_TRUE(in_cross_replica_context());
    bool others = true;
    std::thread([&] { others = has_strategy(); }).join();
    EXPECT_FALSE(others);
    auto again = strategy.scope(); // the same one
  }
  EXPECT_FALSE(has_strategy());
}

TEST(StrategyTest, NestingTwoStrategiesIsAnError) {
  MirroredStrategy outer(cpus(2));
  OneDeviceStrategy inner("CPU:0");
  auto scope = outer.scope();
  EXPECT_THAT(errorOf([&] { auto scope = inner.scope(); }),
              HasSubstr("this thread is in that of MirroredStrategy on CPU:0, "
                        "CPU:1: end that one before the scope of "
                        "OneDeviceStrategy on CPU:0 begins"));
  EXPECT_EQ(get_strategy(), outer);
}

TEST(StrategyTest, VariablesOfAScopeAreOnAllDevices) {
  MirroredStrategy strategy(cpus(4));
  auto scope = strategy.scope();
  DVariable host(tensor({1.f, 2.f}, {2}), {.name = "w"});
  EXPECT_EQ(host.layout(), Layout::replicated(*strategy.mesh(), 1));
  const Mesh other = create_mesh({{"x", 2}}, virtual_cpus(2));
  EXPECT_THAT(errorOf([&] {
                DVariable(copy_to_mesh(ones({2}), other), {.name = "v"});
              }),
              HasSubstr("expected an initial value on the mesh of the strategy "
                        "in whose scope the variable 'v' is made"));
}

TEST(StrategyTest, CreatorsAreAskedFromTheInnermostOn) {
  std::vector<std::string> asked;
  auto creator = [&](std::string name) {
    return [&asked, name](const NextVariable &next, const Tensor &initial,
                          VariableOptions options) {
      asked.push_back(name);
      options.name += "/" + name;
      return next(initial, options);
    };
  };
  auto outer = variable_creator_scope(creator("outer"));
  DVariable variable;
  {
    auto inner = variable_creator_scope(creator("inner"));
    variable = DVariable(ones({2}), {.name = "w"});
  }
  EXPECT_EQ(variable.name(), "w/inner/outer");
  DVariable(ones({2}), {.name = "v"});
  EXPECT_THAT(asked, ElementsAre("inner", "outer", "outer"));
}

TEST(StrategyTest, ABatchIsCutOverTheReplicas) {
  MirroredStrategy strategy(cpus(2));
  const Tensor batch = strategy.place_batch(ones({3, 2}));
  EXPECT_EQ(batch.layout(), *strategy.batch_layout(2));
  EXPECT_EQ(batch.layout().spec_string(), "[replica, *]");
  EXPECT_THAT(errorOf([&] { (void)strategy.batch_layout(0); }),
              HasSubstr("batch the dataset"));
}

// ---- Devices (21, 22, 31, 38, 39)

TEST(StrategyTest, MirroredTakesDevicesByNameAndOnce) {
  const Strategy strategy = MirroredStrategy(
      {"/job:localhost/replica:0/task:0/device:CPU:2", "cpu:1"});
  EXPECT_EQ(strategy.num_replicas_in_sync(), 2);
  EXPECT_THAT(strategy.mesh()->local_device_ids(), ElementsAre(0, 1));
  EXPECT_EQ(strategy.mesh()->local_devices()[0],
            "/job:localhost/replica:0/task:0/device:CPU:2");
  EXPECT_THAT(errorOf([] { MirroredStrategy({"CPU:1", "/cpu:1"}); }),
              HasSubstr("expected different devices, got CPU:1 twice"));
  EXPECT_THAT(
      errorOf([] { MirroredStrategy({"/job:worker/task:1/device:CPU:0"}); }),
      HasSubstr("expected a device of this process"));
}

TEST(StrategyTest, WithoutNamesThereIsAReplicaOnEachCPU) {
  virtual_cpus(3);
  EXPECT_EQ(MirroredStrategy().num_replicas_in_sync(),
            int64_t(list_logical_devices("CPU").size()));
}

TEST(StrategyTest, DevicesThatAreNotThereAreLeftOutWithAWarning) {
  Logged logged;
  const Strategy strategy = MirroredStrategy({"CPU:0", "GPU:7"});
  EXPECT_EQ(strategy.num_replicas_in_sync(), 1);
  EXPECT_THAT(logged.lines(),
              testing::Contains(AllOf(
                  HasSubstr("WARNING: MirroredStrategy: the devices GPU:7 are "
                            "not visible and are left out"),
                  HasSubstr("connect_platform"))));
  EXPECT_THAT(errorOf([] { MirroredStrategy({"GPU:7"}); }),
              HasSubstr("none of the devices GPU:7 is there"));
}

TEST(StrategyTest, DecisionsAreLoggedOnceAndQuietByALevel) {
  Logged logged;
  MirroredStrategy first({"CPU:5", "CPU:6"}), second({"CPU:5", "CPU:6"});
  EXPECT_THAT(logged.lines(),
              ElementsAre(HasSubstr(
                  "INFO: Using MirroredStrategy with devices "
                  "('/job:localhost/replica:0/task:0/device:CPU:5', "
                  "'/job:localhost/replica:0/task:0/device:CPU:6')")));
  set_log_level(LogLevel::WARNING);
  MirroredStrategy third({"CPU:6", "CPU:5"});
  set_log_level(LogLevel::INFO);
  EXPECT_THAT(logged.lines(), SizeIs(1));
}

TEST(StrategyTest, TPUStrategyIsTriedOnCPUs) {
  EXPECT_EQ(TPUStrategy(cpus(8)).num_replicas_in_sync(), 8);
  if (list_logical_devices("TPU").empty()) {
    EXPECT_THAT(errorOf([] { TPUStrategy(); }), HasSubstr("there is no TPU"));
  }
}

TEST(StrategyTest, AParameterDeviceThatComputesIsTheFirst) {
  const Strategy strategy = CentralStorageStrategy(cpus(3), "CPU:2");
  EXPECT_EQ(DeviceSpec::from_string(strategy.mesh()->local_devices()[0]),
            (DeviceSpec{"CPU", 2}));
  EXPECT_THAT(errorOf([] { CentralStorageStrategy(cpus(2), "GPU:4"); }),
              HasSubstr("GPU:4"));
}

// Names, devices as they are listed and lists of both are the same everywhere.
TEST(StrategyTest, DevicesAreGivenByNameOrAsListed) {
  const std::vector<std::string> names{"CPU:1", "/device:CPU:2"};
  const std::vector<DeviceSpec> listed{{"CPU", 1}, {"CPU", 2}};
  const std::vector<DeviceName> named{"CPU:1", "CPU:2"};
  for (const Strategy &strategy : std::vector<Strategy>{
           MirroredStrategy(names), MirroredStrategy(listed),
           MirroredStrategy(named), MirroredStrategy({"CPU:1", listed[1]}),
           TPUStrategy(names), TPUStrategy(listed),
           TPUStrategy({"CPU:1", "CPU:2"}), CentralStorageStrategy(names),
           CentralStorageStrategy(listed)}) {
    EXPECT_EQ(strategy.mesh()->local_devices()[0], listed[0].name());
    EXPECT_EQ(strategy.mesh()->local_devices()[1], listed[1].name());
  }
  for (const Strategy &strategy : std::vector<Strategy>{
           OneDeviceStrategy("CPU:2"), OneDeviceStrategy(names[1]),
           OneDeviceStrategy(listed[1])})
    EXPECT_EQ(strategy.mesh()->local_devices()[0], listed[1].name());
}

TEST(StrategyTest, CPUsAreConfiguredAsLogicalDevices) {
  const DeviceSpec cpu = list_physical_devices("CPU").front();
  set_logical_device_configuration(cpu,
                                   std::vector<LogicalDeviceConfiguration>(64));
  EXPECT_GE(list_logical_devices("CPU").size(), 64u);
  EXPECT_THAT(list_physical_devices("CPU"), SizeIs(1));
  EXPECT_THAT(errorOf([&] { set_logical_device_configuration(cpu, {{}, {}}); }),
              HasSubstr("expected at least 64 configurations"));
  EXPECT_THAT(errorOf([&] {
                set_logical_device_configuration(
                    cpu, std::vector<LogicalDeviceConfiguration>(
                             128, {.memory_limit = 10}));
              }),
              HasSubstr("share the machine's memory"));
}

} // namespace
} // namespace meshloom
