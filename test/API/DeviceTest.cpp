// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices of other platforms in the API: connecting, listing, placing, and
// TPUs. A device in use stays so as long as the process, so each test that
// needs a fresh one runs in a process of its own.
#include "Testing.h"

#include "meshloom/API/ConcreteFunction.h"
#include "meshloom/Core/Compiled.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace meshloom {
namespace {
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// XLA's plug-in for CPUs, or libtpu, or nothing.
std::string pluginFor(const char *variable, const char *fetched) {
  const char *setting = std::getenv(variable);
  const std::string path = setting ? setting : fetched;
  return std::filesystem::exists(path) ? path : "";
}

/// A copy of the test plug-in that is four TPUs in a square.
class FourTPUs {
public:
  FourTPUs()
      : path(fmt::format("{}libtpu-{}.so", testing::TempDir(), getpid())) {
    std::filesystem::copy_file(MESHLOOM_FAULTY_PLUGIN_PATH, path);
    setenv("MESHLOOM_FAULTY_PLUGIN", "tpu", 1);
  }
  ~FourTPUs() { std::filesystem::remove(path); }
  const std::string path;
};

void withoutEnvironment() {
  for (const char *name : {"TPU_LIBRARY_PATH", "PJRT_NAMES_AND_LIBRARY_PATHS",
                           "MESHLOOM_FAULTY_PLUGIN"})
    unsetenv(name);
  // This machine may have a GPU.
  setenv("MESHLOOM_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
}

std::vector<std::string> names(const std::vector<DeviceSpec> &devices) {
  std::vector<std::string> texts;
  for (const DeviceSpec &device : devices)
    texts.push_back(device.to_string());
  return texts;
}

/// In a process of its own, in which no device was used: fails where an
/// expectation in `body` does.
#define IN_FRESH_PROCESS(...)                                                  \
  EXPECT_EXIT(                                                                 \
      {                                                                        \
        withoutEnvironment();                                                  \
        __VA_ARGS__;                                                           \
        std::exit(testing::Test::HasFailure() ? 1 : 0);                        \
      },                                                                       \
      testing::ExitedWithCode(0), "")

class DeviceTest : public testing::Test {
protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// ---- Without other platforms

TEST_F(DeviceTest, VirtualCPUsShareAMachine) {
  IN_FRESH_PROCESS({
    virtual_cpus(3);
    EXPECT_THAT(names(list_logical_devices("CPU")),
                ElementsAre("CPU:0", "CPU:1", "CPU:2"));
    EXPECT_THAT(names(list_logical_devices()),
                ElementsAre("CPU:0", "CPU:1", "CPU:2"));
    EXPECT_THAT(names(list_physical_devices("CPU")), ElementsAre("CPU:0"));
    EXPECT_THAT(list_logical_devices("TPU"), IsEmpty());
    EXPECT_THAT(list_physical_devices("GPU"), IsEmpty());
  });
}

// Whoever names devices that are not there learns what is, and what to do.
TEST_F(DeviceTest, DevicesThatAreNotConnected) {
  IN_FRESH_PROCESS({
    setenv("PJRT_NAMES_AND_LIBRARY_PATHS", "other:/x/other.so", 1);
    const std::string error =
        errorOf([] { create_mesh({{"x", 2}}, {{"TPU", 0}, {"TPU", 1}}); });
    EXPECT_THAT(error, HasSubstr("[create_mesh] there are no devices of type "
                                 "TPU: connected are CPU"));
    EXPECT_THAT(error, HasSubstr("other (/x/other.so)"));
    EXPECT_THAT(error, HasSubstr("connect_to_cluster"));
    EXPECT_THAT(errorOf([] { (void)device("GPU:1"); }),
                AllOf(HasSubstr("[device] there are no devices of type GPU"),
                      HasSubstr("connect_platform(\"pjrt:")));
    EXPECT_THAT(errorOf([] { list_devices("GPU"); }),
                HasSubstr("[list_devices] there are no devices of type GPU"));
    EXPECT_THAT(
        errorOf([] { create_mesh({{"x", 2}}, {{"CPU", 0}, {"TPU", 1}}); }),
        HasSubstr("devices of one type, got TPU:1 beside CPU:0"));
  });
}

// A variable that names a plug-in which is not there is an error when its type
// is asked for, and only then.
TEST_F(DeviceTest, PluginsOfTheEnvironmentAreLoadedWhenAskedFor) {
  IN_FRESH_PROCESS({
    setenv("PJRT_NAMES_AND_LIBRARY_PATHS", "gpu:/nowhere/gpu.so", 1);
    EXPECT_THAT(names(list_logical_devices()), ElementsAre("CPU:0"));
    EXPECT_THAT(errorOf([] { list_logical_devices("GPU"); }),
                HasSubstr("no PJRT plug-in at '/nowhere/gpu.so'"));
    EXPECT_THAT(errorOf([] { connect_platform("pjrt:/nowhere/x.so"); }),
                HasSubstr("[connect_platform] there is no PJRT plug-in"));
    EXPECT_THAT(errorOf([] { connect_platform("quantum"); }),
                HasSubstr("there is no platform 'quantum'"));
  });
}

// Meshes are made of names, of devices as they are listed, and of both.
TEST_F(DeviceTest, MeshesOfNames) {
  const std::vector<std::string> names{"CPU:0", "CPU:1"};
  const Mesh wanted = create_mesh({{"x", 2}}, virtual_cpus(2));
  EXPECT_EQ(create_mesh({{"x", 2}}, {"CPU:0", "CPU:1"}), wanted);
  EXPECT_EQ(create_mesh({{"x", 2}}, names), wanted);
  EXPECT_EQ(create_mesh({{"x", 2}}, {names.begin(), names.end()}), wanted);
  EXPECT_EQ(create_mesh({{"x", 2}}, {"CPU:0", virtual_cpus(2)[1]}), wanted);
  EXPECT_EQ(create_distributed_mesh({{"x", 2}}, names), wanted);
  EXPECT_THAT(errorOf([] { create_mesh({{"x", 2}}, {"CPU:0", "nothing?"}); }),
              HasSubstr("expected a device such as \"CPU:0\""));
}

// Devices print as messages name them.
TEST_F(DeviceTest, DevicesArePrinted) {
  std::ostringstream out;
  out << DeviceSpec("cpu:3") << " " << virtual_cpus(2);
  EXPECT_EQ(out.str(), "CPU:3 [CPU:0, CPU:1]");
}

TEST_F(DeviceTest, DeviceNames) {
  IN_FRESH_PROCESS({
    for (const char *name : {"CPU:1", "/CPU:1", "/device:cpu:1",
                             "/job:localhost/replica:0/task:0/device:CPU:1"}) {
      auto scope = device(name);
      EXPECT_EQ(get_default_mesh()->local_devices().front(),
                "/job:localhost/replica:0/task:0/device:CPU:1");
    }
    for (const char *name : {"", "CPU:", "CPU:x", "CPU:-1", ":0",
                             "/device:", "CPU:99999999999999999999", "C P U:0"})
      EXPECT_THAT(errorOf([&] { (void)device(name); }),
                  HasSubstr("[device] expected a device such as"))
          << name;
  });
}

// On the device where plain tensors are, tensors stay plain.
TEST_F(DeviceTest, TensorsAreMadeOnTheDeviceOfTheScope) {
  IN_FRESH_PROCESS({
    {
      auto scope = device("CPU:1");
      Tensor x = ones({2}) + 1;
      EXPECT_THAT(x.to_vector<float>(), ElementsAre(2, 2));
      EXPECT_EQ(fetch_layout(x).mesh().local_devices().front(),
                "/job:localhost/replica:0/task:0/device:CPU:1");
    }
    auto scope = device("CPU");
    Tensor y = ones({2}) + 1;
    Mesh mesh = create_mesh({{"x", 2}}, virtual_cpus(2));
    EXPECT_THAT(
        (distribute(ones({2}), Layout({"x"}, mesh)) + y).to_vector<float>(),
        ElementsAre(3, 3));
  });
}

// The runtime's other platforms can be in meshes too.
TEST_F(DeviceTest, ReferenceBackend) {
  IN_FRESH_PROCESS({
    EXPECT_THAT(connect_platform("reference"), IsEmpty());
    Mesh mesh = create_mesh({{"x", 2}}, {{"REFERENCE", 0}, {"REFERENCE", 1}});
    Tensor x = distribute(tensor({1.f, 2.f, 3.f, 4.f}), Layout({"x"}, mesh));
    EXPECT_THAT(reduce_sum(x * x).to_vector<float>(), ElementsAre(30));
  });
}

// ---- GPUs, of the stand-in for NVIDIA's driver

void withTwoGPUs() {
  setenv("MESHLOOM_CUDA_DRIVER", MESHLOOM_STANDIN_PATH, 1);
  setenv("MESHLOOM_STANDIN", "gpus=2", 1);
}

TEST_F(DeviceTest, GPUsAreListedAndConfigured) {
  IN_FRESH_PROCESS({
    withTwoGPUs();
    EXPECT_THAT(names(list_logical_devices()), ElementsAre("CPU:0"));
    EXPECT_THAT(names(list_physical_devices("GPU")),
                ElementsAre("GPU:0", "GPU:1"));
    EXPECT_THAT(names(list_logical_devices("GPU")),
                ElementsAre("GPU:0", "GPU:1"));
    set_logical_device_configuration(
        "GPU:1", {{.memory_limit = 64}, {.memory_limit = 64}});
    EXPECT_THAT(names(list_physical_devices("GPU")),
                ElementsAre("GPU:0", "GPU:1"));
    EXPECT_THAT(names(list_physical_devices()),
                ElementsAre("CPU:0", "GPU:0", "GPU:1"));
    EXPECT_THAT(names(list_logical_devices("GPU")),
                ElementsAre("GPU:0", "GPU:1", "GPU:2"));
    EXPECT_EQ(list_logical_devices("GPU")[2].name(),
              "/job:localhost/replica:0/task:0/device:GPU:2");
  });
}

// A mesh is on one card or over both.
TEST_F(DeviceTest, MeshesOfGPUs) {
  IN_FRESH_PROCESS({
    withTwoGPUs();
    set_logical_device_configuration("GPU:1", {{}, {}});
    for (const std::vector<std::string> &gpus :
         {std::vector<std::string>{"GPU:1", "GPU:2"}, {"GPU:0", "GPU:2"}}) {
      const Mesh mesh = create_mesh({{"x", 2}}, gpus);
      const Tensor x =
          distribute(tensor({1.f, 2.f, 3.f, 4.f}), Layout({"x"}, mesh));
      EXPECT_THAT(reduce_sum(x * x).to_vector<float>(), ElementsAre(30));
      EXPECT_THAT((x + x).to_vector<float>(), ElementsAre(2, 4, 6, 8));
    }
    auto scope = device("GPU:2");
    EXPECT_THAT((ones({2}) + 1).to_vector<float>(), ElementsAre(2, 2));
  });
}

TEST_F(DeviceTest, GPUsThatAreNotThere) {
  IN_FRESH_PROCESS({
    withTwoGPUs();
    EXPECT_THAT(errorOf([] { create_mesh({{"x", 1}}, {"GPU:2"}); }),
                HasSubstr("[create_mesh] there is no GPU:2: this machine has 2 "
                          "GPUs, which are 2 logical ones, GPU:0 to GPU:1"));
    EXPECT_THAT(
        errorOf([] { set_logical_device_configuration("GPU:2", {{}}); }),
        HasSubstr("[set_logical_device_configuration] there is no GPU:2 in "
                  "this machine, which has 2"));
    EXPECT_THAT(errorOf([] {
                  set_logical_device_configuration("GPU:0",
                                                   {{.memory_limit = -1}});
                }),
                HasSubstr("expected a memory limit in megabytes"));
    auto scope = device("GPU:0");
    const Tensor x = ones({2}) + 1;
    EXPECT_THAT(
        errorOf([] { set_logical_device_configuration("GPU:0", {{}, {}}); }),
        HasSubstr("GPU:0 is in use: call it at the start of the program"));
    EXPECT_THAT(errorOf([] { set_logical_device_configuration("CPU:1", {}); }),
                HasSubstr("of CPUs only CPU:0 can be several"));
  });
}

// A driver that is there and cannot be used is no machine without GPUs.
TEST_F(DeviceTest, DriversThatAreTooOld) {
  IN_FRESH_PROCESS({
    withTwoGPUs();
    setenv("MESHLOOM_STANDIN", "driver=11020", 1);
    EXPECT_THAT(errorOf([] { list_physical_devices("GPU"); }),
                HasSubstr("is one of CUDA 11.2"));
  });
}

// ---- TPUs

TEST_F(DeviceTest, WithoutLibtpuTheErrorSaysWhatWasLookedFor) {
  IN_FRESH_PROCESS({
    EXPECT_THAT(errorOf([] { TPUClusterResolver resolver; }),
                AllOf(HasSubstr("[TPUClusterResolver]"),
                      HasSubstr("TPU_LIBRARY_PATH is not set")));
    EXPECT_THAT(errorOf([] { initialize_tpu_system(); }),
                HasSubstr("TPU_LIBRARY_PATH is not set"));
    setenv("TPU_LIBRARY_PATH", "/nowhere/libtpu.so", 1);
    EXPECT_THAT(errorOf([] { TPUClusterResolver resolver("local"); }),
                HasSubstr("there is no libtpu at '/nowhere/libtpu.so', which "
                          "the environment names"));
    EXPECT_THAT(
        errorOf([] { TPUClusterResolver resolver("", "/no/tpu.so"); }),
        HasSubstr("there is no libtpu at '/no/tpu.so', the path given"));
  });
}

// A name or an address is looked up: TPUs are used where they are.
TEST_F(DeviceTest, TPUsOfOtherMachinesAreRefused) {
  IN_FRESH_PROCESS({
    FourTPUs tpus;
    EXPECT_THAT(
        errorOf([] { TPUClusterResolver resolver("grpc://192.0.2.1"); }),
        HasSubstr("the TPU \"grpc://192.0.2.1\" is in the machines "
                  "192.0.2.1:8470, and this machine is not one of them"));
    EXPECT_THAT(errorOf([] { TPUClusterResolver resolver("grpc://a:b"); }),
                HasSubstr("expected an address such as"));
    EXPECT_THAT(errorOf([] { TPUClusterResolver resolver("-x"); }),
                HasSubstr("is not a name of a TPU"));
    TPUClusterResolver resolver("grpc://192.0.2.1,grpc://127.0.0.1:9000",
                                tpus.path);
    EXPECT_EQ(resolver.tpu(), "grpc://192.0.2.1,grpc://127.0.0.1:9000");
    EXPECT_EQ(resolver.master(), "grpc://192.0.2.1:8470");
    EXPECT_EQ(resolver.task_id(), 1);
    EXPECT_EQ(resolver.num_accelerators(), 4);
    connect_to_cluster(resolver);
    EXPECT_THAT(initialize_tpu_system(resolver).device_coordinates,
                testing::SizeIs(4));
  });
}

// From resolver to values on a device, in TensorFlow's order.
TEST_F(DeviceTest, TPUsAreInitializedAndHoldTensors) {
  IN_FRESH_PROCESS({
    FourTPUs tpus;
    setenv("TPU_LIBRARY_PATH", tpus.path.c_str(), 1);
    TPUClusterResolver resolver("local");
    EXPECT_EQ(resolver.library(), tpus.path);
    connect_to_cluster(resolver);
    TPUTopology topology = initialize_tpu_system(resolver);
    EXPECT_THAT(topology.mesh_shape, ElementsAre(2, 2, 1, 1));
    EXPECT_THAT(topology.device_coordinates,
                ElementsAre(ElementsAre(0, 0, 0, 0), ElementsAre(1, 0, 0, 0),
                            ElementsAre(0, 1, 0, 0), ElementsAre(1, 1, 0, 0)));
    EXPECT_EQ(topology.num_tasks, 1);
    EXPECT_EQ(resolver.num_accelerators(), 4);
    EXPECT_THAT(names(list_logical_devices("TPU")),
                ElementsAre("TPU:0", "TPU:1", "TPU:2", "TPU:3"));
    EXPECT_THAT(names(list_physical_devices("tpu")),
                ElementsAre("TPU:0", "TPU:1", "TPU:2", "TPU:3"));
    EXPECT_THAT(names(list_logical_devices()),
                ElementsAre("CPU:0", "TPU:0", "TPU:1", "TPU:2", "TPU:3"));

    Mesh mesh = create_mesh({{"x", 2}, {"y", -1}}, list_devices("TPU"));
    EXPECT_EQ(mesh.device_type(), "TPU");
    Tensor x = distribute(tensor({1.f, 2.f, 3.f, 4.f}, {2, 2}),
                          Layout::replicated(mesh, 2));
    EXPECT_THAT(x.to_vector<float>(), ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(fetch_layout(x).mesh(), mesh);
    // A program that is compiled for them knows how they are linked.
    auto twice = function([](const Tensor &x) { return x + x; });
    const ConcreteFunction concrete = twice.get_concrete_function(x);
    EXPECT_EQ(concrete.compiled().machine(), "tpu:v5e:2x2");
    EXPECT_NE(concrete.compiled().stableHLO(), nullptr);
    EXPECT_THAT(concrete.explain(), HasSubstr("on tpu:v5e:2x2: 0 collectives"));
    EXPECT_THAT(errorOf([] { create_mesh({}, {{"TPU", 3}, {"TPU", 4}}); }),
                HasSubstr("[create_mesh] there is no device TPU:4"));
  });
}

// Calling it again is harmless, until a device is used; then it is an error and
// what there is stays.
TEST_F(DeviceTest, InitializingComesFirst) {
  IN_FRESH_PROCESS({
    FourTPUs tpus;
    TPUClusterResolver resolver("local", tpus.path);
    initialize_tpu_system(resolver);
    EXPECT_EQ(initialize_tpu_system(resolver).device_coordinates.size(), 4u);
    Mesh mesh = create_mesh({{"x", 4}}, list_devices("TPU"));
    Tensor x =
        distribute(tensor({1.f, 2.f, 3.f, 4.f}), Layout::replicated(mesh, 1));
    EXPECT_THAT(errorOf([&] { initialize_tpu_system(resolver); }),
                HasSubstr("[initialize_tpu_system] must come before anything "
                          "uses devices, but CPU:0 is in use"));
    EXPECT_THAT(x.to_vector<float>(), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(list_devices("TPU"), testing::SizeIs(4));
  });
}

TEST_F(DeviceTest, OtherPluginsAreNoTPUs) {
  IN_FRESH_PROCESS({
    TPUClusterResolver resolver("local", MESHLOOM_FAULTY_PLUGIN_PATH);
    connect_to_cluster(resolver);
    EXPECT_THAT(
        errorOf([&] { initialize_tpu_system(resolver); }),
        AllOf(HasSubstr("[initialize_tpu_system] expected a plug-in for "
                        "TPUs"),
              HasSubstr("are of type XLA_CPU: use connect_platform")));
    EXPECT_THAT(list_logical_devices("TPU"), IsEmpty());
    // It is a plug-in for CPUs, which are not the virtual ones.
    EXPECT_THAT(
        names(connect_platform(std::string("pjrt:") +
                               MESHLOOM_FAULTY_PLUGIN_PATH)),
        ElementsAre("XLA_CPU:0", "XLA_CPU:1", "XLA_CPU:2", "XLA_CPU:3"));
    FourTPUs tpus;
    connect_to_cluster(TPUClusterResolver("local", tpus.path));
    EXPECT_THAT(errorOf([&] { connect_to_cluster(resolver); }),
                HasSubstr("only one platform of a type can be connected"));
  });
}

// libtpu itself, where there is no TPU: its words, and ours on where it looked.
TEST_F(DeviceTest, LibtpuFindsNoTPU) {
  const std::string path =
      pluginFor("TPU_LIBRARY_PATH", MESHLOOM_FETCHED_TPU_LIBRARY);
  if (path.empty())
    GTEST_SKIP() << "libtpu is not installed: TPU_LIBRARY_PATH is not set, and "
                    "there is no "
                 << MESHLOOM_FETCHED_TPU_LIBRARY;
  if (std::filesystem::exists("/dev/accel0") ||
      std::filesystem::exists("/dev/vfio/0"))
    GTEST_SKIP() << "this machine has a TPU";
  IN_FRESH_PROCESS({
    // Tests that run beside this one load libtpu too.
    setenv("ALLOW_MULTIPLE_LIBTPU_LOAD", "1", 1);
    TPUClusterResolver resolver("local", path);
    connect_to_cluster(resolver);
    EXPECT_THAT(errorOf([&] { initialize_tpu_system(resolver); }),
                AllOf(HasSubstr("[initialize_tpu_system] no TPU was found in "
                                "this machine by '" +
                                path),
                      HasSubstr("cannot make a client")));
    // The rest goes on.
    EXPECT_THAT((ones({2}) + 1).to_vector<float>(), ElementsAre(2, 2));
  });
}

// ---- Programs on another platform

class XLACPUTest : public DeviceTest {
protected:
  void SetUp() override {
    DeviceTest::SetUp();
    path = pluginFor("MESHLOOM_PJRT_CPU_PLUGIN", MESHLOOM_FETCHED_CPU_PLUGIN);
    if (path.empty())
      GTEST_SKIP() << "XLA's plug-in for CPUs is not installed: "
                      "MESHLOOM_PJRT_CPU_PLUGIN is not set, and there is no "
                   << MESHLOOM_FETCHED_CPU_PLUGIN;
  }
  std::string path;
};

// Eager ops, a function and a gradient, with collectives: as on virtual CPUs.
TEST_F(XLACPUTest, ProgramsRunAsOnVirtualCPUs) {
  IN_FRESH_PROCESS({
    connect_platform("pjrt:" + path);
    auto train = [](const Mesh &mesh) {
      DVariable w(distribute(sample({6, 3}), Layout::replicated(mesh, 2)));
      Tensor x = distribute(sample({8, 6}, 2), Layout({"x", UNSHARDED}, mesh));
      auto step = function([&](const Tensor &x) {
        GradientTape tape;
        Tensor loss = reduce_sum(square(matmul(x, w)));
        w.assign_sub(tape.gradient(loss, w) * 0.01f);
        return loss;
      });
      std::vector<double> values;
      for (int i = 0; i < 3; ++i)
        values.push_back(step(x).item<float>());
      Tensor sum = reduce_sum(x + 1, {0});
      for (float value : sum.to_vector<float>())
        values.push_back(value);
      return values;
    };
    std::vector<DeviceSpec> devices;
    for (int64_t i = 0; i < 4; ++i)
      devices.push_back({"XLA_CPU", i});
    const auto expected = train(create_mesh({{"x", 4}}, virtual_cpus(4)));
    const auto actual = train(create_mesh({{"x", 4}}, devices));
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i)
      EXPECT_NEAR(actual[i], expected[i], 1e-4 * std::abs(expected[i]));
  });
}

TEST_F(XLACPUTest, OneDeviceByName) {
  IN_FRESH_PROCESS({
    setenv("PJRT_NAMES_AND_LIBRARY_PATHS", ("xla_cpu:" + path).c_str(), 1);
    auto scope = device("XLA_CPU:2");
    Tensor x = ones({3}) * 2;
    EXPECT_EQ(fetch_layout(x).mesh().device_type(), "XLA_CPU");
    EXPECT_THAT(x.to_vector<float>(), ElementsAre(2, 2, 2));
    // Devices that have memories of their own are no machine that shares one.
    auto twice = function([](const Tensor &x) { return x + x; });
    EXPECT_EQ(twice.get_concrete_function(x).compiled().machine(), "ring");
  });
}
} // namespace
} // namespace meshloom
