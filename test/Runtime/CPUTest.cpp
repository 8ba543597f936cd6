// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Virtual CPUs: the conformance suite with shared and private memories, and
// what only this backend does.
#include "Conformance.h"

#include "../../lib/Runtime/Backends/CPU/Workers.h"

#include "meshloom/Runtime/Backends/CPU/ProcessThreads.h"
#include "meshloom/Runtime/Backends/CPU/WorkerClocks.h"
#include "meshloom/Runtime/Library/HostCode.h"

#include <fstream>
#include <thread>

using namespace meshloom;
using namespace meshloom::test;

namespace {
ClientMaker maker(std::string name, CPUOptions options) {
  return {std::move(name), [options](int64_t devices) {
            CPUOptions with = options;
            with.devices = devices;
            return makeClient(with);
          }};
}

/// Devices in several processes.
ClientMaker processes(std::string name, int64_t count, CPUOptions options) {
  return {std::move(name), [count, options](int64_t devices) {
            CPUOptions with = options;
            with.devices = devices;
            return createProcessThreads(std::min(count, devices), with)
                .value_or_throw();
          }};
}

const auto makers = testing::Values(
    maker("Shared", {.workers = 2}), maker("SharedOneWorker", {.workers = 1}),
    // Cut into chunks however small the work is.
    maker("SharedManyChunks", {.workers = 3, .chunks = 7}),
    // More threads than cores.
    maker("SharedManyWorkers", {.workers = 16, .chunks = 16}),
    maker("SharedClocks", {.workers = 3,
                           .chunks = 7,
                           .clocks = std::make_shared<WorkerClocks>()}),
    maker("Private", {.workers = 2, .privateMemories = true}),
    maker("PrivateOneWorker", {.workers = 1, .privateMemories = true}),
    // Every call returns before its work is done.
    maker("SharedLaunched", {.workers = 2, .launchFrom = 0}),
    maker("PrivateLaunched",
          {.workers = 2, .privateMemories = true, .launchFrom = 0}),
    processes("TwoProcesses", 2, {.workers = 1}),
    processes("FourProcesses", 4, {.workers = 2, .chunks = 3}),
    processes("TwoProcessesLaunched", 2, {.workers = 1, .launchFrom = 0}));
INSTANTIATE_TEST_SUITE_P(CPU, ClientConformance, makers, ClientMaker::nameOf);
INSTANTIATE_TEST_SUITE_P(CPU, Conformance, makers, ClientMaker::nameOf);

TEST(CPUClientTest, BadOptionsAreErrors) {
  EXPECT_FALSE(createCPUClient({.devices = 0}));
  EXPECT_FALSE(createCPUClient({.devices = 1, .workers = -1}));
  EXPECT_FALSE(createCPUClient(
      {.privateMemories = true, .clocks = std::make_shared<WorkerClocks>()}));
}

TEST(CPUClientTest, DevicesAreNamed) {
  auto cpu = makeClient({.devices = 512});
  EXPECT_EQ(cpu->devices().size(), 512u);
  EXPECT_EQ(cpu->devices()[3], (Device{3, "CPU:3"}));
}

TEST(CPUFeaturesTest, UnknownAndMissingFeaturesAreNamed) {
  EXPECT_TRUE(library::checkCPUFeatures(""));
  EXPECT_TRUE(library::checkCPUFeatures("sse2,+sse3"));
  Status unknown = library::checkCPUFeatures("sse2,warp9");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message().find("'warp9'"), std::string::npos);
  if (!__builtin_cpu_supports("avx512bf16")) {
    Status missing = library::checkCPUFeatures("avx512bf16");
    ASSERT_FALSE(missing);
    EXPECT_NE(missing.error().message().find("does not have"),
              std::string::npos);
  }
}

// A saved program for another CPU does not load.
TEST(CPUFeaturesTest, ProgramThatNeedsMoreDoesNotLoad) {
  Mesh mesh = makeMesh({{"x", 1}});
  ProgramBuilder b(mesh);
  auto executable = makeClient({})->load(
      Compiled(b.program, Code{"x86-64-elf", "avx2,warp9", {}, testKernels()}));
  ASSERT_FALSE(executable);
  EXPECT_NE(executable.error().message().find("'warp9'"), std::string::npos);
}

TEST(SharedObjectTest, RubbishIsAnError) {
  const std::string rubbish = "not an object";
  EXPECT_FALSE(library::loadSharedObject({rubbish.data(), rubbish.size()}));
}

// Any shared object will do: this C library function is not a kernel, but it is
// a symbol. Two objects at once are two objects.
TEST(SharedObjectTest, SymbolsAreFoundInMemory) {
  std::ifstream file("/lib/x86_64-linux-gnu/libm.so.6", std::ios::binary);
  if (!file)
    GTEST_SKIP() << "no shared object of known path on this system";
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  auto one = library::loadSharedObject({bytes.data(), bytes.size()});
  auto two = library::loadSharedObject({bytes.data(), bytes.size()});
  ASSERT_TRUE(one) << one.error().message();
  ASSERT_TRUE(two);
  EXPECT_TRUE((*one)->lookup("lgamma_r"));
  auto missing = (*one)->lookup("no_such_kernel");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message().find("'no_such_kernel'"),
            std::string::npos);
}

/// twice(twice(...(a))), `depth` times, and its sum over the rows.
Program chain(const Mesh &mesh, int64_t rows, int64_t columns, int depth) {
  Layout layout({"x", UNSHARDED}, mesh);
  ProgramBuilder b(mesh);
  unsigned value = b.argument({rows, columns}, layout);
  for (int i = 0; i < depth; ++i) {
    unsigned next = b.buffer({rows, columns}, layout);
    b.kernel("twice", {{rows, false, {0}}, {columns}},
             {{value, byLoops({0, 1})}}, {{next, byLoops({0, 1})}});
    value = next;
  }
  unsigned sums = b.buffer({rows}, Layout({"x"}, mesh));
  b.kernel("row_sum", {{rows, false, {0}}, {columns, true}},
           {{value, byLoops({0, 1})}}, {{sums, byLoops({0})}});
  b.result(sums);
  return b.program;
}

// Whichever thread of oneTBB does what others wait to do: scratch memory is one
// part for each worker.
TEST(WorkersTest, AWorkerIsOneOfThoseThatThereAre) {
  for (int64_t count : {1, 2}) {
    cpu::Workers workers(count);
    std::atomic<int64_t> strangers = 0;
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller)
      callers.emplace_back([&] {
        for (int visit = 0; visit < 500; ++visit)
          workers.visit([&] {
            std::this_thread::yield();
            strangers += workers.index() < 0 || workers.index() >= count;
          });
      });
    for (std::thread &caller : callers)
      caller.join();
    EXPECT_EQ(strangers, 0) << count;
  }
}

// Three workers take pieces of 5, 1, 1 and 4 in turn: the first is at one for
// 5, the others are done after 1, and the second takes the last one.
TEST(WorkersTest, ClocksSayWhenTheLastWorkerIsDone) {
  int64_t time = 0;
  WorkerClocks clocks([&] { return time; });
  const std::vector<int64_t> pieces{5, 1, 1, 4};
  std::vector<int64_t> workers;
  clocks.share(3, [&](int64_t worker) {
    if (workers.size() == pieces.size())
      return false;
    time += pieces[workers.size()];
    workers.push_back(worker);
    return true;
  });
  clocks.alone([&] { time += 7; });
  EXPECT_EQ(workers, (std::vector<int64_t>{0, 1, 2, 1}));
  const WorkerClocks::Times times = clocks.take();
  EXPECT_EQ(times.total, 5 + 7);
  EXPECT_EQ(times.alone, 7);
  EXPECT_EQ(times.busy, 5 + 1 + 1 + 4 + 7);
  EXPECT_EQ(times.phases, 1);
  EXPECT_EQ(clocks.take().total, 0);
}

// One worker works for 3, shares pieces of 4 and 2 with another one, and works
// for 1.
TEST(WorkersTest, ClocksCountPhasesInsideOfOnesWork) {
  int64_t time = 0;
  WorkerClocks clocks([&] { return time; });
  clocks.alone([&] {
    time += 3;
    std::vector<int64_t> pieces{2, 4};
    clocks.share(2, [&](int64_t) {
      if (pieces.empty())
        return false;
      time += pieces.back();
      pieces.pop_back();
      return true;
    });
    time += 1;
  });
  const WorkerClocks::Times times = clocks.take();
  EXPECT_EQ(times.total, 3 + 4 + 1);
  EXPECT_EQ(times.alone, 3 + 1);
  EXPECT_EQ(times.busy, 3 + 4 + 2 + 1);
  EXPECT_EQ(times.phases, 1);
}

// A run on clocks counts its phases, and gives the same results: see the
// conformance suite.
TEST(WorkersTest, ARunCountsTheTimeOfItsWorkers) {
  auto clocks = std::make_shared<WorkerClocks>();
  Mesh mesh = makeMesh({{"x", 8}});
  auto cpu = makeClient({.devices = 8, .workers = 4, .clocks = clocks});
  auto executable =
      cpu->load(Compiled(chain(mesh, 1024, 256, 2), testKernels()));
  ASSERT_TRUE(executable);
  ASSERT_TRUE(finished((*executable)
                           ->execute({fromFloats(
                               cpu, {1024, 256}, Layout({"x", UNSHARDED}, mesh),
                               std::vector<float>(1024 * 256, 1.f))})));
  const WorkerClocks::Times times = clocks->take();
  EXPECT_EQ(times.phases, 1);
  EXPECT_GT(times.total, times.alone);
  EXPECT_GE(times.busy, times.total);
  EXPECT_LE(times.busy, 4 * times.total);
}

// A value that is made and used up in one phase takes no global memory.
TEST(CPUMemoryTest, ChainsRunInTheWorkersScratch) {
  Mesh mesh = makeMesh({{"x", 8}});
  auto cpu = makeClient({.devices = 8, .workers = 2});
  const int64_t bytes = 1024 * 256 * 4;
  for (int depth : {2, 20}) {
    auto executable =
        cpu->load(Compiled(chain(mesh, 1024, 256, depth), testKernels()));
    ASSERT_TRUE(executable);
    // The argument, and less than another array of its size.
    EXPECT_LT((*executable)->statistics().peakBytes, 2 * bytes) << depth;
  }
}

// In private memories buffers are reused once they are dead.
TEST(CPUMemoryTest, PrivateBuffersAreReused) {
  Mesh mesh = makeMesh({{"x", 8}});
  auto cpu = makeClient({.devices = 8, .privateMemories = true});
  auto executable =
      cpu->load(Compiled(chain(mesh, 1024, 256, 20), testKernels()));
  ASSERT_TRUE(executable);
  EXPECT_LT((*executable)->statistics().peakBytesPerDevice,
            4 * 1024 * 256 * 4 / 8);
}

// Out of memory is an error that names the op, and nothing is leaked.
TEST(CPUMemoryTest, OutOfMemoryNamesTheOp) {
  Mesh mesh = makeMesh({{"x", 2}});
  for (bool privateMemories : {false, true}) {
    auto cpu = makeClient({.devices = 2, .privateMemories = privateMemories});
    ProgramBuilder b(mesh);
    Layout layout({"x", UNSHARDED}, mesh);
    const int64_t n = 1 << 22; // 64 TiB
    unsigned out = b.buffer({n, n}, layout);
    b.kernel("index", {{n, false, {0}}, {n}}, {}, {{out, byLoops({0, 1})}});
    b.result(out);
    auto executable = cpu->load(Compiled(b.program, testKernels()));
    ASSERT_FALSE(executable);
    EXPECT_EQ(executable.error().message().find(
                  "test.mlir:1:3: in 'dtensor.index': out of memory"),
              0u)
        << executable.error().message();
    EXPECT_EQ(cpu->bytesInUse(), 0);
  }
}

TEST(CPUMemoryTest, LimitOfTheClientIsKept) {
  Mesh mesh = makeMesh({{"x", 2}});
  auto cpu = makeClient({.devices = 2, .memoryLimit = 10'000});
  const ArrayType type{DType::F32, {10'000}, Layout({"x"}, mesh)};
  const std::vector<char> data(40'000);
  auto array = Array::fromHost(cpu, type, data);
  ASSERT_FALSE(array);
  EXPECT_NE(array.error().message().find("out of memory"), std::string::npos);
}

// A chain over 512 devices is as cheap to load as over 8.
TEST(CPULoadTest, LoadTimeDoesNotGrowWithDevices) {
  for (int64_t devices : {8, 512}) {
    Mesh mesh = makeMesh({{"x", devices}});
    auto cpu = makeClient({.devices = devices, .workers = 2});
    const Program program = chain(mesh, 1024, 64, 1000);
    auto executable = cpu->load(Compiled(program, testKernels()));
    ASSERT_TRUE(executable);
    auto results = (*executable)
                       ->execute({fromFloats(cpu, {1024, 64},
                                             Layout({"x", UNSHARDED}, mesh),
                                             std::vector<float>(1024 * 64))});
    ASSERT_TRUE(results);
    EXPECT_EQ(floats((*results)[0].toHost()), std::vector<float>(1024, 0));
  }
}

// Little work on many values that are all kept: one chunk is enough, although
// the values do not fit into the cache.
TEST(CPULoadTest, SmallProgramWithMuchScratchLoads) {
  Mesh mesh = makeMesh({{"x", 1}});
  Layout layout({UNSHARDED, UNSHARDED}, mesh);
  ProgramBuilder b(mesh);
  auto next = [&](const char *symbol, unsigned first, unsigned second) {
    const unsigned to = b.buffer({1, 256}, layout, DType::C128);
    b.kernel(symbol, {{1}, {256}},
             {{first, byLoops({0, 1})}, {second, byLoops({0, 1})}},
             {{to, byLoops({0, 1})}});
    return to;
  };
  std::vector<unsigned> chain{b.argument({1, 256}, layout, DType::C128)};
  chain.reserve(41);
  for (int i = 0; i < 40; ++i)
    chain.push_back(next("multiply", chain.back(), chain[0]));
  unsigned sum = chain.back();
  for (size_t i = chain.size() - 1; i-- > 0;)
    sum = next("add", sum, chain[i]);
  b.result(sum);
  auto cpu = makeClient({.devices = 1, .workers = 2});
  EXPECT_TRUE(cpu->load(Compiled(b.program, testKernels())));
}
} // namespace
