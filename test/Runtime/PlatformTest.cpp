// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Platforms by name, clients by their devices, and programs bound to devices
// when they are loaded.
#include "TestPrograms.h"

#include "meshloom/Runtime/Platform.h"
#include "meshloom/Runtime/PlatformProcesses.h"

using namespace meshloom;
using namespace meshloom::test;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(PlatformTest, IsFoundByName) {
  auto cpu = platform("cpu");
  ASSERT_TRUE(cpu) << cpu.error().message();
  EXPECT_EQ((*cpu)->name(), "cpu");
  EXPECT_EQ((*cpu)->target(), "cpu");
  EXPECT_EQ(*platform("cpu"), *cpu);
  auto none = platform("abacus");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message(),
              HasSubstr("there is no platform 'abacus'"));
  EXPECT_THAT(none.error().message(), HasSubstr("cpu"));
  EXPECT_FALSE(platform("cpu:1"));
}

// Not by how many devices it has.
TEST(PlatformTest, ClientIsFoundByItsDevices) {
  auto cpu = *platform("cpu");
  auto lower = cpu->client({0, 1}), upper = cpu->client({2, 3});
  ASSERT_TRUE(lower && upper);
  EXPECT_NE(*lower, *upper);
  EXPECT_EQ((*upper)->devices()[0].name, "CPU:2");
  EXPECT_EQ(*cpu->client(int64_t(2)), *lower);
}

TEST(PlatformTest, OnlySomePlatformsSpanProcesses) {
  const auto processes = std::make_shared<PlatformProcesses>(
      0, 2, std::weak_ptr<KeyValueStore>(), "run/");
  for (const char *name : {"reference", "cpu:processes=2"}) {
    auto one = *platform(name);
    EXPECT_FALSE(one->spansProcesses());
    auto client = one->client(2, processes);
    ASSERT_FALSE(client);
    EXPECT_EQ(client.error().message(),
              std::string("a program on devices of the platform ") + name +
                  " runs in one process, not in 2");
  }
  EXPECT_TRUE((*platform("cpu"))->spansProcesses());
}

TEST(PlatformTest, LoadingBindsDevices) {
  Mesh mesh = makeMesh({{"x", 2}});
  Layout rows({"x", UNSHARDED}, mesh);
  ProgramBuilder b(mesh);
  unsigned in = b.argument({3, 2}, rows), out = b.buffer({3, 2}, rows);
  b.kernel("twice", {{3, false, {0}}, {2}}, {{in, byLoops({0, 1})}},
           {{out, byLoops({0, 1})}});
  b.result(out);
  Compiled compiled(b.program, testKernels());
  auto cpu = *platform("cpu");
  auto client = *cpu->client({2, 3});
  const DeviceAssignment devices = DeviceAssignment::of("CPU", {2, 3});
  auto executable = client->load(compiled, devices);
  ASSERT_TRUE(executable) << executable.error().message();
  const Signature &signature = (*executable)->signature();
  EXPECT_EQ(signature.mesh, mesh.placed_on(devices));
  EXPECT_EQ((*executable)->compiled().signature().mesh, mesh);

  Array there =
      fromFloats(client, {3, 2}, rows.placed_on(devices), counting(6, 0));
  auto results = (*executable)->execute({there});
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_EQ(results->front().layout(), rows.placed_on(devices));
  EXPECT_THAT(floats(results->front().toHost()),
              ElementsAre(0, 2, 4, 6, 8, 10));

  // An array on other devices is not one of this program's.
  Array elsewhere = fromFloats(client, {3, 2}, rows, counting(6, 0));
  auto refused = (*executable)->execute({elsewhere});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("must be on the mesh"));

  auto wrong = client->load(compiled, DeviceAssignment::of("CPU", {0, 1}));
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message(),
              HasSubstr("CPU:0, which is not one of the 2 devices"));
  EXPECT_FALSE(client->load(compiled, DeviceAssignment::standard(3)));
}

TEST(PlatformTest, CpuRunsItsOwnCodeOnly) {
  Mesh mesh = makeMesh({{"x", 1}});
  ProgramBuilder b(mesh);
  auto client = makeClient({});
  auto foreign =
      client->load(Compiled(b.program, Code{"ptx", "", {}, nullptr}));
  ASSERT_FALSE(foreign);
  EXPECT_THAT(foreign.error().message(), HasSubstr("is ptx"));
  auto text = client->load(
      Compiled(signatureOf(b.program), {}, StableHLOProgram{"module {}"}));
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message(), HasSubstr("StableHLO"));
}
