// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clients, buffers, events and executions: what holds of every plug-in, run on
// ours and, where it is installed, on XLA's; then what holds where things fail.
#include "PluginsForTests.h"

#include "meshloom/Runtime/Backends/PJRT/PluginClient.h"

#include <atomic>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

using namespace meshloom;
using namespace meshloom::pjrt;
using namespace meshloom::test;
using testing::HasSubstr;

namespace {
PluginBuffer put(const PluginClient &client, size_t device,
                 const std::vector<float> &values) {
  return client
      .toDevice(client.devices()[device], DType::F32, {int64_t(values.size())},
                bytesOf(values))
      .value_or_throw();
}

std::vector<float> get(const PluginBuffer &buffer, size_t count) {
  std::vector<float> values(count);
  auto copied = buffer.copyTo(
      {reinterpret_cast<char *>(values.data()), count * sizeof(float)}, 1);
  EXPECT_TRUE(copied) << copied.error().message();
  if (copied) {
    Status done = copied->wait("read");
    EXPECT_TRUE(done) << done.error().message();
  }
  return values;
}

std::vector<capi::Handle> handles(const std::vector<PluginBuffer> &buffers) {
  std::vector<capi::Handle> list;
  for (const PluginBuffer &buffer : buffers)
    list.push_back(buffer.handle());
  return list;
}

/// A StableHLO module that gives `arity` arguments f32[2] back; those in
/// `donated` give their memory too.
std::string identityModule(size_t arity, const std::vector<size_t> &donated) {
  std::vector<std::string> types(arity, "tensor<2xf32>"), attributes, names;
  for (size_t i = 0; i < arity; ++i) {
    attributes.push_back("{}");
    names.push_back(fmt::format("%{}", i));
  }
  for (size_t i : donated)
    attributes[i] = fmt::format("{{tf.aliasing_output = {} : i32}}", i);
  std::vector<std::string> arguments;
  for (const std::string &name : names)
    arguments.push_back(name + ": tensor<2xf32>");
  return fmt::format(
      R"("builtin.module"() ({{
  "func.func"() <{{arg_attrs = [{}], function_type = ({}) -> ({}), sym_name = "main"}}> ({{
  ^bb0({}):
    "func.return"({}) : ({}) -> ()
  }}) : () -> ()
}}) : () -> ())",
      fmt::join(attributes, ", "), fmt::join(types, ", "),
      fmt::join(types, ", "), fmt::join(arguments, ", "),
      fmt::join(names, ", "), fmt::join(types, ", "));
}

std::string faultyIdentity(size_t arity, const std::vector<size_t> &donated) {
  return fmt::format("identity {} donate {}", arity, fmt::join(donated, " "));
}

struct PluginUnderTest {
  std::string name;
  std::function<std::optional<std::string>(std::string &why)> path;
  std::function<std::string(size_t, const std::vector<size_t> &)> identity;
  friend void PrintTo(const PluginUnderTest &plugin, std::ostream *out) {
    *out << plugin.name;
  }
};

class PluginClientTest : public testing::TestWithParam<PluginUnderTest> {
protected:
  void SetUp() override {
    std::string why;
    std::optional<std::string> path = GetParam().path(why);
    if (!path)
      GTEST_SKIP() << why;
    plugin = Plugin::load(*path).value_or_throw();
  }
  std::shared_ptr<PluginClient> client(int64_t devices) const {
    return PluginClient::create(*plugin, {{"cpu_device_count", devices}})
        .value_or_throw();
  }
  PluginExecutable identity(const PluginClient &client, size_t arity,
                            std::vector<size_t> donated = {},
                            int64_t replicas = 1) const {
    CompileOptions options{replicas, {}};
    for (int64_t i = 0; i < replicas; ++i)
      options.devices.push_back(client.devices()[size_t(i)].id);
    return client.compile(GetParam().identity(arity, donated), options)
        .value_or_throw();
  }

  const Plugin *plugin = nullptr;
};

TEST_P(PluginClientTest, DevicesAreListed) {
  auto five = client(5);
  EXPECT_EQ(five->platformName(), "cpu");
  EXPECT_EQ(five->process(), 0);
  ASSERT_EQ(five->devices().size(), 5u);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(five->devices()[i].id, int64_t(i));
    EXPECT_FALSE(five->devices()[i].kind.empty());
    EXPECT_FALSE(five->devices()[i].text.empty());
  }
}

// Every element type, and shapes without elements and without dims.
TEST_P(PluginClientTest, DataComesBackAsItWent) {
  auto one = client(1);
  for (int type = 0; type <= int(lastDType); ++type)
    for (const Shape &shape : {Shape{3, 5}, Shape{}, Shape{0, 3}, Shape{7}}) {
      const size_t size = size_t(elementCount(shape)) * byteWidth(DType(type));
      std::vector<char> data(size), back(size);
      for (size_t i = 0; i < size; ++i)
        data[i] = DType(type) == DType::I1 ? char(i % 2) : char(3 * i + 1);
      auto buffer = one->toDevice(one->devices()[0], DType(type), shape, data);
      ASSERT_TRUE(buffer) << buffer.error().message();
      auto copied = buffer->copyTo(back, shape.size());
      ASSERT_TRUE(copied) << copied.error().message();
      EXPECT_TRUE(copied->wait("read"));
      EXPECT_EQ(back, data) << name(DType(type));
    }
}

// Arguments and results are in the order of devices.
TEST_P(PluginClientTest, ReplicasKeepTheirOwnData) {
  auto four = client(4);
  PluginExecutable program = identity(*four, 2, {}, 4);
  EXPECT_EQ(program.outputCount(), 2);
  EXPECT_THAT(program.devices(), testing::ElementsAre(0, 1, 2, 3));
  std::vector<PluginBuffer> arguments;
  for (size_t device = 0; device < 4; ++device)
    for (size_t i = 0; i < 2; ++i)
      arguments.push_back(put(*four, device, {float(device), float(i)}));
  auto run = program.execute(handles(arguments), {});
  ASSERT_TRUE(run) << run.error().message();
  ASSERT_EQ(run->outputs.size(), 8u);
  ASSERT_EQ(run->done.size(), 4u);
  for (const PluginEvent &done : run->done)
    EXPECT_TRUE(done.wait("run"));
  for (size_t device = 0; device < 4; ++device)
    for (size_t i = 0; i < 2; ++i)
      EXPECT_THAT(get(run->outputs[2 * device + i], 2),
                  testing::ElementsAre(float(device), float(i)));
}

// One that is still being computed is an argument of the next program.
TEST_P(PluginClientTest, ExecutionsFollowEachOther) {
  auto one = client(1);
  PluginExecutable program = identity(*one, 1);
  std::vector<PluginBuffer> value;
  value.push_back(put(*one, 0, {3, 4}));
  for (int i = 0; i < 5; ++i)
    value =
        std::move(program.execute(handles(value), {}).value_or_throw().outputs);
  EXPECT_THAT(get(value[0], 2), testing::ElementsAre(3, 4));
}

// A donated argument is gone; one that is kept is not.
TEST_P(PluginClientTest, DonationTakesTheArgumentUnlessItIsKept) {
  auto one = client(1);
  PluginExecutable program = identity(*one, 2, {0, 1});
  std::vector<PluginBuffer> arguments;
  arguments.push_back(put(*one, 0, {1, 2}));
  arguments.push_back(put(*one, 0, {3, 4}));
  const std::vector<int64_t> preserved = {1};
  auto run = program.execute(handles(arguments), {preserved});
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_THAT(get(run->outputs[0], 2), testing::ElementsAre(1, 2));
  EXPECT_THAT(get(run->outputs[1], 2), testing::ElementsAre(3, 4));
  EXPECT_THAT(get(arguments[1], 2), testing::ElementsAre(3, 4));
  EXPECT_FALSE(program.execute(handles(arguments), {}));
}

TEST_P(PluginClientTest, CallbackComesOnce) {
  auto one = client(1);
  PluginExecutable program = identity(*one, 1);
  std::vector<PluginBuffer> arguments;
  arguments.push_back(put(*one, 0, {1, 2}));
  for (int i = 0; i < 20; ++i) {
    auto run = program.execute(handles(arguments), {});
    ASSERT_TRUE(run);
    std::promise<bool> called;
    std::move(run->done[0]).then("run", [&](Status status) {
      called.set_value(bool(status));
    });
    EXPECT_TRUE(called.get_future().get());
    auto ready = run->outputs[0].ready();
    ASSERT_TRUE(ready);
    EXPECT_TRUE(ready->wait("wait"));
    EXPECT_TRUE(ready->isReady());
  }
}

// The last one to hold a client may be a callback, on a thread that the client
// waits for when it is destroyed.
TEST_P(PluginClientTest, ClientMayEndInACallback) {
  std::promise<void> called;
  {
    auto one = client(1);
    PluginExecutable program = identity(*one, 1);
    std::vector<PluginBuffer> arguments;
    arguments.push_back(put(*one, 0, {1, 2}));
    auto run = program.execute(handles(arguments), {});
    ASSERT_TRUE(run);
    auto last = std::make_shared<PluginBuffer>(std::move(run->outputs[0]));
    std::move(run->done[0]).then("run", [last, &called](Status) {
      called.set_value();
    });
  }
  called.get_future().get();
}

// Buffers outlive the handles of their program and of their client.
TEST_P(PluginClientTest, BuffersKeepTheirClient) {
  PluginBuffer buffer;
  {
    auto one = client(1);
    std::vector<PluginBuffer> arguments;
    arguments.push_back(put(*one, 0, {5, 6}));
    buffer = std::move(identity(*one, 1)
                           .execute(handles(arguments), {})
                           .value_or_throw()
                           .outputs[0]);
  }
  EXPECT_THAT(get(buffer, 2), testing::ElementsAre(5, 6));
}

TEST_P(PluginClientTest, ThreadsDoNotMix) {
  auto one = client(1);
  PluginExecutable program = identity(*one, 1);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int step = 0; step < 20; ++step) {
        std::vector<PluginBuffer> arguments;
        arguments.push_back(put(*one, 0, {float(t), float(step)}));
        auto run = program.execute(handles(arguments), {});
        ASSERT_TRUE(run);
        EXPECT_THAT(get(run->outputs[0], 2),
                    testing::ElementsAre(float(t), float(step)));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

// A program that is refused: what the plug-in says of it, with its place.
TEST_P(PluginClientTest, RefusedProgramSaysWhere) {
  auto program = client(1)->compile("\n\n      frobnicate", {});
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error().message(),
              testing::AllOf(HasSubstr("cannot compile a program with the PJRT "
                                       "plug-in '" +
                                       plugin->path()),
                             HasSubstr(":3:7: error: ")));
}

TEST_P(PluginClientTest, TooManyReplicasAreRefused) {
  auto two = client(2);
  CompileOptions options{3, {0, 1, 2}};
  EXPECT_FALSE(two->compile(GetParam().identity(1, {}), options));
}

INSTANTIATE_TEST_SUITE_P(
    Plugins, PluginClientTest,
    testing::Values(PluginUnderTest{"Faulty",
                                    [](std::string &) {
                                      return faultyPlugin().path();
                                    },
                                    faultyIdentity},
                    PluginUnderTest{"XlaCpu", cpuPluginPath, identityModule}),
    [](auto &info) { return info.param.name; });

// ---- XLA's plug-in for CPUs

class XlaCpuTest : public testing::Test {
protected:
  void SetUp() override {
    std::string why;
    std::optional<std::string> path = cpuPluginPath(why);
    if (!path)
      GTEST_SKIP() << why;
    plugin = Plugin::load(*path).value_or_throw();
  }
  const Plugin *plugin = nullptr;
};

TEST_F(XlaCpuTest, SaysWhatItReads) {
  EXPECT_GE(plugin->version().minor, Plugin::OLDEST_MINOR);
  Attributes attributes = plugin->attributes().value_or_throw();
  EXPECT_EQ(
      std::get<std::vector<int64_t>>(attributes.at("stablehlo_current_version"))
          .size(),
      3u);
}

// The error of a refused op names the place in the user's program.
TEST_F(XlaCpuTest, RefusedOpHasItsSourceLine) {
  const std::string text = R"("builtin.module"() ({
  "func.func"() <{function_type = (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>, sym_name = "main"}> ({
  ^bb0(%x: tensor<2xf32>, %y: tensor<3xf32>):
    %sum = "stablehlo.add"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32> loc("model.py":12:3)
    "func.return"(%sum) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ())";
  auto one = PluginClient::create(*plugin).value_or_throw();
  auto program = one->compile(text, {});
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error().message(), HasSubstr("model.py:12:3"));
}

// A sum over replicas, with the ids of their groups.
TEST_F(XlaCpuTest, ReplicasCommunicate) {
  const std::string text = R"("builtin.module"() ({
  "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "main"}> ({
  ^bb0(%x: tensor<2xf32>):
    %sum = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c) : (tensor<f32>) -> ()
    }) : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%sum) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ())";
  auto four = PluginClient::create(*plugin, {{"cpu_device_count", int64_t(4)}})
                  .value_or_throw();
  auto program = four->compile(text, {4, {0, 1, 2, 3}});
  ASSERT_TRUE(program) << program.error().message();
  std::vector<PluginBuffer> arguments;
  for (size_t device = 0; device < 4; ++device)
    arguments.push_back(put(*four, device, {1, float(10 * device)}));
  auto run = program->execute(handles(arguments), {});
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_THAT(get(run->outputs[1], 2), testing::ElementsAre(2, 10));
  EXPECT_THAT(get(run->outputs[2], 2), testing::ElementsAre(2, 50));
}

// ---- Faults

class FaultTest : public testing::Test {
protected:
  std::shared_ptr<PluginClient> client(const std::string &fault) const {
    return PluginClient::create(plugin, {{"fault", fault}}).value_or_throw();
  }

  const Plugin &plugin = faultyPlugin();
  AllReturned allReturned;
};

TEST_F(FaultTest, ClientCannotBeMade) {
  auto created =
      PluginClient::create(plugin, {{"fault", std::string("client")}});
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().message(),
            "cannot make a client with the PJRT plug-in '" + plugin.path() +
                "': INTERNAL: nobody is at home");
}

TEST_F(FaultTest, UnknownOptionIsNamed) {
  auto created = PluginClient::create(plugin, {{"colour", std::string("red")}});
  ASSERT_FALSE(created);
  EXPECT_THAT(created.error().message(),
              HasSubstr("INVALID_ARGUMENT: there is no option 'colour'"));
}

TEST_F(FaultTest, ProgramIsRefused) {
  auto program = client("compile")->compile("identity 1", {});
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error().message(),
              HasSubstr("UNKNOWN: <unknown>:3:7: error: "));
}

// A plug-in that ignores how many devices it was asked to compile for.
TEST_F(FaultTest, ProgramForOtherDevicesIsRefused) {
  auto program = client("replicas")->compile("identity 1", {4, {0, 1, 2, 3}});
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error().message(), HasSubstr("for 1 devices, not 4"));
}

TEST_F(FaultTest, ExecutionThatCannotStartTakesNothing) {
  auto one = client("execute");
  auto program = one->compile("identity 1 donate 0", {});
  ASSERT_TRUE(program);
  std::vector<PluginBuffer> arguments;
  arguments.push_back(put(*one, 0, {1, 2}));
  auto run = program->execute(handles(arguments), {});
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message(),
              HasSubstr("cannot run a program with the PJRT plug-in"));
  EXPECT_THAT(get(arguments[0], 2), testing::ElementsAre(1, 2));
}

// The call succeeds; whoever waits learns, results of results too; the next
// step is fine.
TEST_F(FaultTest, StepThatFailsInTheMiddleTellsThoseWhoWait) {
  auto one = client("step:2");
  auto program = one->compile("identity 1", {2, {0, 1}});
  ASSERT_TRUE(program);
  std::vector<PluginBuffer> arguments;
  for (size_t device = 0; device < 2; ++device)
    arguments.push_back(put(*one, device, {1, 2}));
  for (int step = 1; step <= 3; ++step) {
    auto run = program->execute(handles(arguments), {});
    ASSERT_TRUE(run);
    std::promise<std::string> called;
    std::move(run->done[1]).then("run 'main'", [&](Status status) {
      called.set_value(status ? "" : status.error().message());
    });
    Status done = run->done[0].wait("run 'main'");
    const std::string message = called.get_future().get();
    if (step != 2) {
      EXPECT_TRUE(done);
      EXPECT_EQ(message, "");
      continue;
    }
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message(),
                HasSubstr("device 0 stopped in the middle of a step"));
    EXPECT_EQ(message, "cannot run 'main' with the PJRT plug-in '" +
                           plugin.path() +
                           "': INTERNAL: device 1 stopped in the middle of a "
                           "step");
    std::vector<float> values(2);
    auto read =
        run->outputs[0].copyTo({reinterpret_cast<char *>(values.data()), 8}, 1);
    ASSERT_TRUE(read);
    EXPECT_FALSE(read->wait("read"));
  }
}

// After a device is lost, everything fails, and can still be given back.
TEST_F(FaultTest, LostDeviceFailsWhateverFollows) {
  auto one = client("lost:2");
  auto program = one->compile("identity 1", {});
  ASSERT_TRUE(program);
  std::vector<PluginBuffer> arguments;
  arguments.push_back(put(*one, 0, {1, 2}));
  auto first = program->execute(handles(arguments), {});
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->done[0].wait("run"));
  auto second = program->execute(handles(arguments), {});
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->done[0].wait("run"));
  EXPECT_FALSE(program->execute(handles(arguments), {}));
  EXPECT_FALSE(one->toDevice(one->devices()[0], DType::F32, {0}, {}));
  EXPECT_FALSE(one->compile("identity 1", {}));
  std::vector<float> values(2);
  EXPECT_FALSE(
      arguments[0].copyTo({reinterpret_cast<char *>(values.data()), 8}, 1));
}

TEST_F(FaultTest, FullMemoryIsAnError) {
  auto one = client("memory:2");
  PluginBuffer first = put(*one, 0, {1, 2});
  const std::vector<float> values(3);
  auto second =
      one->toDevice(one->devices()[1], DType::F32, {3}, bytesOf(values));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message(),
            "cannot put 12 bytes on device Faulty(id=1) with the PJRT plug-in "
            "'" +
                plugin.path() +
                "': RESOURCE_EXHAUSTED: out of memory: 0 bytes are left");
  EXPECT_THAT(get(first, 2), testing::ElementsAre(1, 2));
}

TEST_F(FaultTest, ReadingFails) {
  auto one = client("read");
  PluginBuffer buffer = put(*one, 0, {1, 2});
  std::vector<float> values(2);
  auto read = buffer.copyTo({reinterpret_cast<char *>(values.data()), 8}, 1);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message(),
              HasSubstr("cannot read an array with the PJRT plug-in"));
}

// One who cannot be told later is told at once.
TEST_F(FaultTest, CallbackThatIsRefusedIsToldSo) {
  auto one = client("ready");
  auto program = one->compile("identity 0", {});
  ASSERT_TRUE(program);
  auto run = program->execute({}, {});
  ASSERT_TRUE(run);
  std::string message;
  std::move(run->done[0]).then("run", [&](Status status) {
    message = status ? "" : status.error().message();
  });
  EXPECT_THAT(message, HasSubstr("INTERNAL: no bell"));
  (void)client("");
}
} // namespace
