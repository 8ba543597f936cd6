// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platform over a plug-in that fails on demand: clients of its devices,
// arrays on them, executions that end later, and every fault on the way.
#include "PluginsForTests.h"

#include "meshloom/Runtime/Backends/PJRT/PJRTPlatform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

using namespace meshloom;
using namespace meshloom::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {
using Floats = std::vector<float>;

Floats floatsOf(const Result<HostBytes> &bytes) {
  EXPECT_TRUE(bytes) << bytes.error().message();
  Floats values(bytes ? bytes->size() / sizeof(float) : 0);
  if (bytes)
    std::memcpy(values.data(), bytes->data(), bytes->size());
  return values;
}

class PlatformTest : public testing::Test {
protected:
  std::shared_ptr<Platform> platform(const std::string &fault = "") {
    return makePJRTPlatform("pjrt:faulty", faultyPlugin(), {{"fault", fault}});
  }
  std::shared_ptr<Client> client(const std::string &fault = "") {
    return platform(fault)->client(2).value_or_throw();
  }
  /// f32[3] over two devices: elements 0 and 1, element 2.
  ArrayType type() const { return {DType::F32, {3}, layout}; }
  Array array(const std::shared_ptr<Client> &on, const Floats &values) const {
    return Array::fromHost(on, type(), bytesOf(values)).value_or_throw();
  }
  /// Gives `arity` arrays back; the first in its own memory if `donates`.
  Compiled identity(int arity, bool donates = false) const {
    Signature signature{"step", layout.mesh(), {}, {}};
    for (int i = 0; i < arity; ++i) {
      signature.arguments.push_back({"x" + std::to_string(i), type()});
      signature.results.push_back({"", type(), donates && i == 0 ? 0 : -1});
    }
    return Compiled(signature, {},
                    StableHLOProgram{"identity " + std::to_string(arity) +
                                     (donates ? " donate 0" : "")});
  }

  AllReturned allReturned;
  Layout layout{{"x"}, Mesh::get({{"x", 2}}).value_or_throw()};
};

// ---- Platforms and clients

TEST_F(PlatformTest, ClientsAreMadeWithOptionsOfTheEnvironment) {
  const FaultyCopy copy;
  ASSERT_TRUE(copy.load(""));
  {
    ScopedVariable options("MESHLOOM_PJRT_OPTIONS", "cpu_device_count=3");
    auto three = meshloom::platform("pjrt:" + copy.path());
    ASSERT_TRUE(three) << three.error().message();
    EXPECT_EQ((*three)->devices().value_or_throw().size(), 3U);
  }
  ScopedVariable options("MESHLOOM_PJRT_OPTIONS", "nonsense");
  const FaultyCopy other;
  ASSERT_TRUE(other.load(""));
  auto none = meshloom::platform("pjrt:" + other.path());
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message(), HasSubstr("'nonsense' in it"));
}

TEST_F(PlatformTest, IsFoundByPathAndByName) {
  auto byPath = meshloom::platform("pjrt:" + faultyPlugin().path());
  ASSERT_TRUE(byPath) << byPath.error().message();
  EXPECT_EQ((*byPath)->target(), "stablehlo");
  EXPECT_EQ((*byPath)->name(), "pjrt:" + faultyPlugin().path());
  const std::string list = "mine:" + faultyPlugin().path();
  ScopedVariable names("PJRT_NAMES_AND_LIBRARY_PATHS", list.c_str());
  EXPECT_TRUE(meshloom::platform("pjrt:mine"));
  auto none = meshloom::platform("pjrt:yours");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message(),
              HasSubstr("there is no PJRT plug-in named 'yours'"));
}

TEST_F(PlatformTest, DevicesHaveTypesAndNumbers) {
  EXPECT_EQ(platform()->deviceType().value_or_throw(), "XLA_CPU");
  auto three = platform()->client({1, 5, 2}).value_or_throw();
  EXPECT_EQ(three->platform(), "pjrt");
  EXPECT_THAT(three->devices(),
              testing::ElementsAre(Device{1, "CPU:1"}, Device{5, "CPU:5"},
                                   Device{2, "CPU:2"}));
}

// Virtual devices are made as they are needed; clients that there are go on.
TEST_F(PlatformTest, MoreDevicesAreMadeOnDemand) {
  auto on = platform();
  auto small = on->client(2).value_or_throw();
  Array x = array(small, {1, 2, 3});
  auto large = on->client(64).value_or_throw();
  EXPECT_EQ(large->devices().size(), 64u);
  EXPECT_EQ(floatsOf(x.toHost()), (Floats{1, 2, 3}));
  EXPECT_EQ(on->client(2).value_or_throw(), small);
}

TEST_F(PlatformTest, NumbersBelowZeroAreNoDevices) {
  EXPECT_FALSE(platform()->client({0, -1}));
  EXPECT_FALSE(platform()->client(std::vector<int64_t>()));
}

TEST_F(PlatformTest, ClientThatCannotBeMadeIsAnError) {
  auto client = platform("client")->client(2);
  ASSERT_FALSE(client);
  EXPECT_THAT(client.error().message(), HasSubstr("nobody is at home"));
}

// ---- Executions

// The call is back before the work is done; reading waits for it.
TEST_F(PlatformTest, ResultsArriveLater) {
  auto on = client();
  auto program = on->load(identity(2));
  ASSERT_TRUE(program) << program.error().message();
  Array x = array(on, {1, 2, 3}), y = array(on, {4, 5, 6});
  auto results = (*program)->execute({x, y});
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_FALSE((*results)[0].event().isReady());
  EXPECT_EQ(floatsOf((*results)[1].toHost()), (Floats{4, 5, 6}));
  EXPECT_EQ(floatsOf((*results)[0].toHost()), (Floats{1, 2, 3}));
  EXPECT_EQ((*program)->statistics().executions, 1);
  EXPECT_GT((*program)->statistics().lastSeconds, 0);
  EXPECT_EQ((*program)->statistics().peakBytesPerDevice, 4 * 8);
}

// Nobody waits between the calls.
TEST_F(PlatformTest, CallsTakeResultsThatAreNotThereYet) {
  auto on = client();
  auto program = on->load(identity(1)).value_or_throw();
  std::vector<Array> value = {array(on, {1, 2, 3})};
  for (int i = 0; i < 10; ++i)
    value = program->execute(std::move(value)).value_or_throw();
  EXPECT_FALSE(value[0].event().isReady());
  EXPECT_EQ(floatsOf(value[0].toHost()), (Floats{1, 2, 3}));
}

// The memory of an argument that nobody else has is reused, and no other
// memory.
TEST_F(PlatformTest, OnlyUnsharedMemoryIsReused) {
  auto on = client();
  auto program = on->load(identity(2, /*donates=*/true)).value_or_throw();
  Array x = array(on, {1, 2, 3}), y = array(on, {4, 5, 6});
  const int64_t two = on->bytesInUse();
  Array copy = x;
  auto results = program->execute({x, y}).value_or_throw();
  EXPECT_EQ(on->bytesInUse(), 2 * two);
  EXPECT_EQ(floatsOf(copy.toHost()), (Floats{1, 2, 3}));

  copy = Array();
  results.clear();
  std::vector<Array> arguments;
  arguments.push_back(std::move(x));
  arguments.push_back(y);
  results = program->execute(std::move(arguments)).value_or_throw();
  EXPECT_EQ(on->bytesInUse(), two + two / 2);
  EXPECT_EQ(floatsOf(results[0].toHost()), (Floats{1, 2, 3}));
}

// Results outlive program, client and platform.
TEST_F(PlatformTest, ResultsKeepWhatTheyNeed) {
  Array result;
  {
    auto on = client();
    result = on->load(identity(1))
                 .value_or_throw()
                 ->execute({array(on, {1, 2, 3})})
                 .value_or_throw()[0];
  }
  EXPECT_EQ(floatsOf(result.toHost()), (Floats{1, 2, 3}));
}

// A result may be given up while it is computed, by its last holder.
TEST_F(PlatformTest, ResultsMayBeGivenUpBeforeTheyAreThere) {
  auto on = client();
  auto program = on->load(identity(1)).value_or_throw();
  Event last;
  for (int i = 0; i < 10; ++i)
    last = program->execute({array(on, {1, 2, 3})}).value_or_throw()[0].event();
  EXPECT_TRUE(last.wait());
  EXPECT_EQ(on->bytesInUse(), 0);
}

TEST_F(PlatformTest, ThreadsDoNotMix) {
  auto on = client();
  auto program = on->load(identity(1, /*donates=*/true)).value_or_throw();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<Array> value = {array(on, {float(t), 1, 2})};
      for (int step = 0; step < 20; ++step)
        value = program->execute(std::move(value)).value_or_throw();
      EXPECT_EQ(floatsOf(value[0].toHost()), (Floats{float(t), 1, 2}));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(program->statistics().executions, 80);
}

// Programs of two clients with a device in common.
TEST_F(PlatformTest, DevicesAreChosenByNumber) {
  auto on = platform();
  auto first = on->client({0, 1}).value_or_throw();
  auto second = on->client({3, 1}).value_or_throw();
  auto assignment = DeviceAssignment::of("CPU", {3, 1});
  auto program = second->load(identity(1), assignment);
  ASSERT_TRUE(program) << program.error().message();
  const ArrayType placed{DType::F32, {3}, layout.placed_on(assignment)};
  Array x =
      Array::fromHost(second, placed, bytesOf({1, 2, 3})).value_or_throw();
  auto results = (*program)->execute({x}).value_or_throw();
  EXPECT_EQ(floatsOf(results[0].toHost()), (Floats{1, 2, 3}));
  auto elsewhere = Array::fromHost(first, placed, bytesOf({1, 2, 3}));
  ASSERT_FALSE(elsewhere);
  EXPECT_THAT(elsewhere.error().message(),
              HasSubstr("device CPU:3 is not one of this client's"));
}

// ---- Faults

// An argument that was not given away is as it was, and the next step is fine.
TEST_F(PlatformTest, StepThatFailsInTheMiddle) {
  auto on = client("step:2");
  auto program = on->load(identity(1)).value_or_throw();
  Array x = array(on, {1, 2, 3});
  EXPECT_TRUE(program->execute({x}).value_or_throw()[0].wait());
  auto failed = program->execute({x});
  ASSERT_TRUE(failed) << failed.error().message();
  Status status = (*failed)[0].wait();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(),
            "cannot run 'step' with the PJRT plug-in '" +
                faultyPlugin().path() +
                "': INTERNAL: device 0 stopped in the middle of a step");
  EXPECT_EQ((*failed)[0].toHost().error().message(), status.error().message());
  // Whoever computes with it fails the same way.
  EXPECT_EQ(program->execute({(*failed)[0]}).error().message(),
            status.error().message());
  EXPECT_EQ(floatsOf(x.toHost()), (Floats{1, 2, 3}));
  EXPECT_EQ(floatsOf(program->execute({x}).value_or_throw()[0].toHost()),
            (Floats{1, 2, 3}));
}

// The call came before the failure was known.
TEST_F(PlatformTest, FailureTravelsThroughCallsThatWereMadeAlready) {
  auto on = client("step:1");
  auto program = on->load(identity(1)).value_or_throw();
  std::vector<Array> value = {array(on, {1, 2, 3})};
  for (int i = 0; i < 3 && value[0]; ++i) {
    auto next = program->execute(std::move(value));
    if (!next) { // it is known by now
      EXPECT_THAT(next.error().message(), HasSubstr("stopped in the middle"));
      return;
    }
    value = std::move(*next);
  }
  Status status = value[0].wait();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message(), HasSubstr("stopped in the middle"));
}

TEST_F(PlatformTest, LostDeviceClosesTheClient) {
  auto on = client("lost:1");
  auto program = on->load(identity(1)).value_or_throw();
  Array x = array(on, {1, 2, 3});
  auto first = program->execute({x});
  ASSERT_TRUE(first);
  EXPECT_FALSE((*first)[0].wait());
  auto second = program->execute({x});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message(), AllOf(HasSubstr("program 'step': "),
                                              HasSubstr("the device is lost")));
  EXPECT_FALSE(x.toHost());
  EXPECT_FALSE(on->load(identity(1)));
  EXPECT_FALSE(Array::fromHost(on, type(), bytesOf({1, 2, 3})));
}

TEST_F(PlatformTest, ExecutionThatCannotStart) {
  auto on = client("execute");
  auto program = on->load(identity(1)).value_or_throw();
  Array x = array(on, {1, 2, 3});
  auto results = program->execute({x});
  ASSERT_FALSE(results);
  EXPECT_THAT(results.error().message(),
              AllOf(HasSubstr("program 'step': cannot run a program"),
                    HasSubstr("not today")));
  EXPECT_EQ(floatsOf(x.toHost()), (Floats{1, 2, 3}));
}

// A refused execution leaves the arguments whose memory it would have reused.
TEST_F(PlatformTest, ARefusalLeavesWhatWouldHaveBeenReused) {
  auto on = client("execute");
  auto program = on->load(identity(2, /*donates=*/true)).value_or_throw();
  std::vector<Array> arguments;
  arguments.push_back(array(on, {1, 2, 3}));
  arguments.push_back(array(on, {4, 5, 6}));
  EXPECT_FALSE(program->execute(std::move(arguments)));
  ASSERT_EQ(arguments.size(), 2U);
  ASSERT_TRUE(arguments[0] && arguments[1]);
  EXPECT_TRUE(arguments[0].isUnique());
  EXPECT_EQ(floatsOf(arguments[0].toHost()), (Floats{1, 2, 3}));
  EXPECT_EQ(floatsOf(arguments[1].toHost()), (Floats{4, 5, 6}));
}

// Memory that the plug-in has taken all the same is gone.
TEST_F(PlatformTest, ARefusalMayHaveTakenMemory) {
  auto on = client("takes:1");
  auto program = on->load(identity(2, /*donates=*/true)).value_or_throw();
  std::vector<Array> arguments;
  arguments.push_back(array(on, {1, 2, 3}));
  arguments.push_back(array(on, {4, 5, 6}));
  EXPECT_THAT(program->execute(std::move(arguments)).error().message(),
              HasSubstr("the second device did not start"));
  ASSERT_EQ(arguments.size(), 2U);
  EXPECT_FALSE(arguments[0]);
  ASSERT_TRUE(arguments[1]);
  EXPECT_EQ(floatsOf(arguments[1].toHost()), (Floats{4, 5, 6}));
}

// The part of the array that is there already goes too.
TEST_F(PlatformTest, FullMemoryNamesTheArray) {
  auto on = client("memory:2");
  auto result = Array::fromHost(on, type(), bytesOf({1, 2, 3}));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message(),
              AllOf(HasSubstr("f32[3] with layout [x]: cannot put 8 bytes on "
                              "device Faulty(id=1)"),
                    HasSubstr("RESOURCE_EXHAUSTED: out of memory")));
  EXPECT_EQ(on->bytesInUse(), 0);
}

TEST_F(PlatformTest, ArrayThatCannotBeReadIsNamed) {
  auto on = client("read");
  Array x = array(on, {1, 2, 3});
  EXPECT_THAT(x.toHost().error().message(),
              AllOf(HasSubstr("f32[3] with layout [x]: cannot read an array"),
                    HasSubstr("the cable is cut")));
  EXPECT_FALSE(x.component(1));
}

// A refused program says whose it is and where, and the client goes on.
TEST_F(PlatformTest, RefusedProgramIsNamed) {
  auto on = client();
  Compiled refused(identity(1).signature(), {},
                   StableHLOProgram{"\n\n      frobnicate"});
  auto program = on->load(refused);
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error().message(),
              AllOf(HasSubstr("program 'step': cannot compile a program"),
                    HasSubstr(":3:7: error: ")));
  EXPECT_TRUE(on->load(identity(1)));
}

// A plug-in's program that is not what the signature says is not run.
TEST_F(PlatformTest, ProgramWithOtherResultsIsRefused) {
  auto program = client()->load(
      Compiled(identity(1).signature(), {}, StableHLOProgram{"identity 2"}));
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message(),
            "program 'step' has 1 results, but 2 on the plug-in's side");
}

TEST_F(PlatformTest, ProgramOfStepsIsRefused) {
  const Program steps{"steps", layout.mesh(), {}, {}, {}, {}, {}};
  auto program = client()->load(Compiled(steps));
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message(),
            "program 'steps' consists of steps, which PJRT plug-ins do not "
            "run: compile it for the target stablehlo");
  auto checked = client()->load(identity(1), {.checkNonFinite = true});
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message(), HasSubstr("Use the platform cpu"));
}
} // namespace
