// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platform cuda on the stand-in driver: results are those of virtual CPUs,
// failures have the driver's names, and nothing is left behind.
#include "CUDATest.h"

#include "../../../lib/Runtime/Backends/CUDA/CardLibraries.h"

#include "meshloom/Runtime/Profiler.h"

#include <filesystem>

using namespace meshloom;
using namespace meshloom::test;
using testing::HasSubstr;

namespace {

TEST_F(CUDATest, StepsOnLogicalGPUsAreThoseOfVirtualCPUs) {
  for (int64_t devices : {1, 8}) {
    auto cpus = clientOf("cpu", devices);
    ASSERT_TRUE(cpus);
    auto expected = runStep(*cpus, "cpu", devices);
    ASSERT_TRUE(expected) << expected.error().message();
    for (auto [order, graphs] :
         {std::pair("order=first", 1), std::pair("order=last", 1),
          std::pair("seed=4", 1), std::pair("seed=5", 0)}) {
      begin(order);
      auto client =
          clientOf(platformName(fmt::format(",graphs={}", graphs)), devices);
      ASSERT_TRUE(client) << client.error().message();
      EXPECT_EQ((*client)->devices().back().name,
                fmt::format("GPU:{}", devices - 1));
      auto results = runStep(*client, "cuda", devices);
      ASSERT_TRUE(results) << results.error().message();
      ASSERT_EQ(results->size(), expected->size());
      for (size_t r = 0; r < results->size(); ++r)
        for (size_t i = 0; i < (*results)[r].size(); ++i)
          EXPECT_NEAR((*results)[r][i], (*expected)[r][i], 1e-5);
      EXPECT_GT(standInLaunches(), 0);
      EXPECT_EQ(standInCalls("cuGraphLaunch"), 2 * graphs);
      EXPECT_EQ(standInCalls("cuLaunchKernel") == 0, graphs == 1);
      EXPECT_EQ(standInCalls("cuGraphAddHostNode"), 0);
      EXPECT_EQ(standInCalls("cuLaunchHostFunc"), 0);
      EXPECT_STREQ(standInFault(), "");
      EXPECT_EQ((*client)->bytesInUse(), 0);
      *client = nullptr;
      EXPECT_EQ(standInBytes(), 0) << "some memory is not given back";
    }
  }
}

// The calls of a run that is profiled are one after the other, with the times
// of the card: a microsecond for each piece of work of the stand-in.
TEST_F(CUDATest, ProfilesHaveTheTimesOfTheCard) {
  begin();
  auto client = clientOf(
      platformName(fmt::format(",cublaslt={}", MESHLOOM_STANDIN_BLAS_PATH)), 2);
  ASSERT_TRUE(client) << client.error().message();
  auto profiler = Profiler::start();
  ASSERT_TRUE(profiler) << profiler.error().message();
  ASSERT_TRUE(runStep(*client, "cuda", 2, /*times=*/1));
  const Profile profile = (*profiler)->stop();
  EXPECT_EQ(standInCalls("cuGraphLaunch"), 0);
  EXPECT_STREQ(standInFault(), "");
  int products = 0, kernels = 0;
  int64_t end = 0;
  for (const ProfileEvent &event : profile.events) {
    if (event.kind != ProfileEvent::Kind::Step)
      continue;
    constexpr int64_t microsecond = 1000;
    EXPECT_GE(event.begin, end);
    end = event.end;
    EXPECT_NEAR(double(event.end - event.begin), microsecond, 2) << event.name;
    EXPECT_GT(event.bytes, 0);
    EXPECT_GT(event.flops, 0);
    products += event.name == "cublasLtMatmul";
    kernels += event.name.starts_with("kernel_");
  }
  EXPECT_EQ(products, 5);
  EXPECT_GT(kernels, 0);
  for (const StepCost &cost : stepCosts(profile))
    EXPECT_EQ(cost.of_peak, 0) << "the peak is that of a core";
}

// (1 + 1) (1 + 2) ... (1 + 6) - 1, by a function that the host calls: the file
// of the program has it too.
TEST_F(CUDATest, SavedProgramsHaveTheFunctionsOfTheHost) {
  constexpr const char *text = R"(
#mesh = #dtensor.mesh<batch = 2>
#full = #dtensor.layout<#mesh, [*]>
#scalar = #dtensor.layout<#mesh, []>
func.func @main(%x: tensor<6xf32, #full>) -> tensor<f32, #scalar> {
  %zero = dtensor.constant dense<0.0> : tensor<f32>
  %0 = dtensor.generic_reduce %x from %zero dims [0] : (tensor<6xf32, #full>, tensor<f32>) -> tensor<f32, #scalar> {
  ^bb0(%f: tensor<f32>, %g: tensor<f32>):
    %p = dtensor.multiply %f, %g : tensor<f32>
    %s = dtensor.add %f, %g : tensor<f32>
    %r = dtensor.add %p, %s : tensor<f32>
    dtensor.yield %r : tensor<f32>
  }
  return %0 : tensor<f32, #scalar>
}
)";
  begin();
  auto client = clientOf(platformName(), 2).value_or_throw();
  const std::string file =
      compileFor("cuda", text, /*deterministic=*/false, /*asBytes=*/true)
          .serialize();
  auto executable = client->load(Compiled::deserialize(file).value_or_throw());
  ASSERT_TRUE(executable) << executable.error().message();
  const std::vector<float> values = counting(6, 1);
  auto array =
      Array::fromHost(client, (*executable)->signature().arguments[0].type,
                      {reinterpret_cast<const char *>(values.data()),
                       values.size() * sizeof(float)})
          .value_or_throw();
  auto results = (*executable)->execute({array});
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_EQ(floats(results->front().toHost()), std::vector<float>{5039});
  EXPECT_GT(standInCalls("cuLaunchHostFunc"), 0);
  EXPECT_STREQ(standInFault(), "");
}

// A step on 8 logical GPUs is as many launches as one on 1.
TEST_F(CUDATest, DevicesOfACardAreMerged) {
  std::vector<int64_t> launches;
  for (int64_t devices : {1, 8}) {
    begin();
    auto client = clientOf(platformName(), devices);
    ASSERT_TRUE(client) << client.error().message();
    ASSERT_TRUE(runStep(*client, "cuda", devices));
    launches.push_back(standInLaunches());
  }
  EXPECT_EQ(launches[0], launches[1]);
}

TEST_F(CUDATest, NoDriverIsAnErrorThatNamesIt) {
  auto client = clientOf("cuda:driver=/nowhere/libcuda.so.1", 1);
  ASSERT_FALSE(client);
  EXPECT_THAT(client.error().message(),
              HasSubstr("the platform cuda needs NVIDIA's driver, which cannot "
                        "be loaded: /nowhere/libcuda.so.1"));
}

// The card is listed; clients have as many logical GPUs on it as they want.
// The path is another one than that of the driver which is there already.
TEST_F(CUDATest, OlderDriversAreRefused) {
  begin("driver=11040");
  const std::filesystem::path path(MESHLOOM_STANDIN_PATH);
  const std::string another =
      (path.parent_path() / "." / path.filename()).string();
  auto client = clientOf("cuda:driver=" + another, 1);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().message(),
            fmt::format("the driver '{}' is one of CUDA 11.4, and the platform "
                        "cuda needs one of CUDA 11.8 or later: install a newer "
                        "driver",
                        another));
}

TEST_F(CUDATest, PlatformListsItsCard) {
  begin();
  auto devices = platform(platformName()).value_or_throw()->devices();
  ASSERT_TRUE(devices) << devices.error().message();
  ASSERT_EQ(devices->size(), 1u);
  EXPECT_EQ(devices->front().kind, "GPU 0 (stand-in)");
  EXPECT_TRUE(devices->front().isHere);
  EXPECT_FALSE(platform("cuda:driver=/nowhere/libcuda.so.1")
                   .value_or_throw()
                   ->devices());
}

// Logical GPUs are numbered card by card.
TEST_F(CUDATest, CardsAreSeveralLogicalGPUs) {
  begin("gpus=2");
  auto cards = platform(platformName(",memory-limit=9000000")).value_or_throw();
  ASSERT_TRUE(cards->configure(0, {0, 0}));
  auto devices = cards->devices();
  ASSERT_TRUE(devices) << devices.error().message();
  std::vector<int64_t> numbers, physical;
  for (const PlatformDevice &device : *devices) {
    numbers.push_back(device.number);
    physical.push_back(device.physical);
  }
  EXPECT_EQ(numbers, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(physical, (std::vector<int64_t>{0, 0, 1}));
  EXPECT_EQ(devices->back().kind, "GPU 1 (stand-in)");
  EXPECT_TRUE(cards->client(std::vector<int64_t>{1, 2}));
  EXPECT_EQ(cards->client(std::vector<int64_t>{0, 1, 2}).error().message(),
            "a program on several GPUs has as many logical GPUs on each, one "
            "card after the other; of its 3 devices, number 0 is GPU:0 on GPU "
            "0");
  EXPECT_EQ(cards->client(std::vector<int64_t>{3}).error().message(),
            "there is no GPU:3: this machine has 2 GPUs, which are 3 logical "
            "ones, GPU:0 to GPU:2; set_logical_device_configuration says how "
            "many each is, and so does the option logical-gpus=N of the "
            "platform");
}

TEST_F(CUDATest, ConfigurationsThatCannotBe) {
  begin("gpus=2");
  auto cards = platform(platformName(",memory-limit=9000001")).value_or_throw();
  EXPECT_EQ(cards->configure(2, {0}).error().message(),
            "there is no GPU:2 in this machine, which has 2");
  EXPECT_FALSE(cards->configure(0, {}));
  EXPECT_EQ(cards->configure(0, {5, 0}).error().message(),
            "the logical GPUs of a card share its memory: give all of them a "
            "memory limit or none, got a limit for 1 of 2");
  auto client = cards->client(std::vector<int64_t>{1}).value_or_throw();
  EXPECT_EQ(cards->configure(1, {0}).error().message(),
            "GPU:1 is in use: call it at the start of the program");
  EXPECT_TRUE(cards->configure(0, {0}));
}

TEST_F(CUDATest, LimitsOfLogicalGPUsAreThoseOfTheirCard) {
  begin();
  auto cards = platform(platformName(",graphs=2")).value_or_throw();
  ASSERT_TRUE(cards->configure(0, {1000, 1000}));
  auto client = cards->client(std::vector<int64_t>{0, 1}).value_or_throw();
  auto results = runStep(client, "cuda", 2);
  ASSERT_FALSE(results);
  EXPECT_THAT(results.error().message(), HasSubstr("2000 bytes may be used"));
}

// Addends that an argument keeps are combined by a kernel.
TEST_F(CUDATest, SumsOfPartsAreKernels) {
  constexpr const char *text = R"(
#mesh = #dtensor.mesh<a = 2, b = 3>
#parts = #dtensor.layout<#mesh, [a] partial<b: sum>>
#full = #dtensor.layout<#mesh, [*]>
func.func @main(%x: tensor<4xf32, #parts>) -> tensor<4xf32, #full> {
  %0 = dtensor.relayout %x : (tensor<4xf32, #parts>) -> tensor<4xf32, #full>
  return %0 : tensor<4xf32, #full>
}
)";
  begin("seed=3");
  auto client = clientOf(platformName(",graphs=0"), 6).value_or_throw();
  auto executable = client->load(compileFor("cuda", text)).value_or_throw();
  // Device (i, j) has elements 2 i and 2 i + 1 of addend j.
  std::vector<std::vector<float>> addends;
  std::vector<Component> components;
  for (float i : {0.f, 1.f})
    for (float j : {1.f, 10.f, 100.f})
      addends.push_back({j * (2 * i + 1), j * (2 * i + 2)});
  for (const std::vector<float> &addend : addends)
    components.push_back(
        {{2},
         {reinterpret_cast<const char *>(addend.data()), 2 * sizeof(float)}});
  std::vector<Array> arguments{
      Array::fromComponents(client, executable->signature().arguments[0].type,
                            components)
          .value_or_throw()};
  auto results = executable->execute(std::move(arguments));
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_EQ(floats(results->front().toHost()),
            (std::vector<float>{111, 222, 333, 444}));
  EXPECT_EQ(standInCalls("cuLaunchHostFunc"), 0);
  EXPECT_EQ(standInLaunches(), 1);
  EXPECT_STREQ(standInFault(), "");
}

TEST_F(CUDATest, NoSuchGPU) {
  begin("gpus=2");
  EXPECT_EQ(failure(",card=2"),
            "there is no GPU 2: this machine has 2, GPU 0 to GPU 1");
  begin("gpus=2");
  EXPECT_EQ(failure(",card=1"), "");
}

TEST_F(CUDATest, UnknownOptionsAreRefused) {
  EXPECT_EQ(
      failure(",cards=2"),
      "the platform cuda takes card=N, logical-gpus=N, private-memories, "
      "memory-limit=BYTES, graphs=N, exchange=host|peer|nccl, driver=PATH, "
      "nccl=PATH, cublaslt=PATH, cublas=PATH, cudnn=PATH, cufft=PATH and "
      "cusolver=PATH after its name, separated by commas, got "
      "'cards=2'");
}

TEST_F(CUDATest, OlderGPUsAreRefused) {
  begin("capability=75");
  EXPECT_EQ(failure(), "program 'main' needs a GPU of compute capability 8.0 "
                       "or more, and GPU 0 (stand-in) has 7.5");
}

TEST_F(CUDATest, CodeForCPUsIsRefused) {
  begin();
  auto client = clientOf(platformName(), 2);
  ASSERT_TRUE(client);
  auto results = runStep(*client, "cpu", 2);
  ASSERT_FALSE(results);
  EXPECT_THAT(results.error().message(),
              HasSubstr("compile it for the target cuda"));
}

TEST_F(CUDATest, OutOfMemorySaysWhatThereIs) {
  begin("memory=2000");
  const std::string text = failure();
  EXPECT_THAT(text, HasSubstr("out of memory"));
  EXPECT_THAT(text, HasSubstr("2000 bytes may be used"));
  EXPECT_EQ(standInBytes(), 0);
  begin("fail=cuMemAllocAsync:1:2");
  EXPECT_THAT(failure(), HasSubstr("are wanted on GPU 0 (stand-in), of whose"));
  EXPECT_EQ(standInBytes(), 0);
}

// A limit is the program's, before anything runs.
TEST_F(CUDATest, MemoryLimit) {
  begin();
  EXPECT_THAT(failure(",memory-limit=2000"), HasSubstr("out of memory"));
}

TEST_F(CUDATest, RefusedPtxHasTheCompilersWords) {
  begin("fail=cuModuleLoadDataEx:1:222");
  EXPECT_THAT(failure(), HasSubstr("program 'main': GPU 0 (stand-in): "
                                   "cuModuleLoadDataEx fails with "
                                   "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"));
}

// 719 is CUDA_ERROR_LAUNCH_FAILED: the context is lost.
TEST_F(CUDATest, LostGPUFailsEveryCallWithTheFirstError) {
  begin("fail=cuGraphLaunch:2:719");
  auto client = clientOf(platformName(), 2);
  ASSERT_TRUE(client);
  auto first = runStep(*client, "cuda", 2);
  ASSERT_FALSE(first);
  EXPECT_THAT(first.error().message(),
              HasSubstr("cuGraphLaunch fails with CUDA_ERROR_LAUNCH_FAILED"));
  EXPECT_THAT(first.error().message(), HasSubstr("start the program again"));
  auto second = runStep(*client, "cuda", 2);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message(),
              HasSubstr("cuGraphLaunch fails with CUDA_ERROR_LAUNCH_FAILED"));
}

// A step that the host runs, such as a custom call, is on a thread of the
// driver.
TEST_F(CUDATest, HostFunctionsGetAnErrorFromGPUs) {
  begin();
  const cuda::Driver *driver =
      cuda::Driver::load(MESHLOOM_STANDIN_PATH).value_or_throw();
  auto card = cuda::Card::open(*driver, 0, 0, {}).value_or_throw();
  struct Seen {
    cuda::Card &card;
    std::string text;
  } seen{*card, ""};
  auto function = [](void *data) {
    auto &seen = *static_cast<Seen *>(data);
    const cuda::Card::HostScope scope;
    auto block = seen.card.allocate(8);
    if (!block && !seen.card.synchronize())
      seen.text = block.error().message();
  };
  ASSERT_TRUE(card->callHost(function, &seen));
  ASSERT_TRUE(card->synchronize());
  EXPECT_EQ(seen.text,
            "GPU 0 (stand-in): a function that the host runs as a step of a "
            "program on a GPU cannot use GPUs itself");
  EXPECT_TRUE(card->allocate(8));
}

/// w - g / 2 in the memory of w, on two logical GPUs.
constexpr const char *updateText = R"(
#mesh = #dtensor.mesh<batch = 2>
#rows = #dtensor.layout<#mesh, [batch, *]>
func.func @main(%w: tensor<8x4xf32, #rows> {dtensor.alias = 0 : i64},
                %g: tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows> {
  %half = dtensor.constant dense<0.5> : tensor<8x4xf32>
  %0 = dtensor.multiply %g, %half : (tensor<8x4xf32, #rows>, tensor<8x4xf32>) -> tensor<8x4xf32, #rows>
  %1 = dtensor.subtract %w, %0 : tensor<8x4xf32, #rows>
  return %1 : tensor<8x4xf32, #rows>
}
)";

/// Updates of a variable while the GPU does nothing.
class HeldUpdates {
public:
  /// Fails where something cannot be set up.
  explicit HeldUpdates(const std::shared_ptr<Client> &client) {
    executable = client->load(compileFor("cuda", updateText)).value_or_throw();
    for (Array *array : {&w, &g}) {
      const std::vector<float> ones(32, 1.f);
      *array =
          Array::fromHost(client, executable->signature().arguments[0].type,
                          {reinterpret_cast<const char *>(ones.data()),
                           ones.size() * sizeof(float)})
              .value_or_throw();
    }
    standInHold(true);
  }
  ~HeldUpdates() { standInHold(false); }
  Status update() {
    std::vector<Array> arguments;
    arguments.push_back(std::move(w));
    arguments.push_back(g);
    auto results = executable->execute(std::move(arguments));
    if (!results)
      return results.error();
    w = std::move(results->front());
    return Success();
  }

  std::shared_ptr<Executable> executable;
  Array w, g;
};

// A step's variables are arguments of the next one before the GPU has begun.
TEST_F(CUDATest, CallsDoNotWaitForTheGPU) {
  for (const char *order : {"order=first", "order=last", "seed=7"}) {
    begin(order);
    auto client = clientOf(platformName(), 2).value_or_throw();
    {
      HeldUpdates updates(client);
      const int64_t before = client->bytesInUse();
      for (int step = 0; step < 10; ++step) {
        const Status asked = updates.update();
        ASSERT_TRUE(asked) << asked.error().message();
        EXPECT_FALSE(updates.w.event().isReady());
      }
      EXPECT_EQ(client->bytesInUse(), before) << "the variable has moved";
      EXPECT_EQ(standInLaunches(), 0);
      standInHold(false);
      EXPECT_EQ(floats(updates.w.toHost()), std::vector<float>(32, -4.f));
      EXPECT_TRUE(updates.w.event().isReady());
      EXPECT_EQ(updates.executable->statistics().executions, 10);
      EXPECT_GT(updates.executable->statistics().lastSeconds, 0);
    }
    EXPECT_STREQ(standInFault(), "");
  }
}

// A step whose variables stay where they are changes no node of its graph.
TEST_F(CUDATest, GraphsOfStepsStayAsTheyAre) {
  begin();
  auto client = clientOf(platformName(",graphs=1"), 2).value_or_throw();
  HeldUpdates updates(client);
  for (int step = 0; step < 3; ++step)
    ASSERT_TRUE(updates.update());
  const Array old = updates.w; // the next step's results lie elsewhere
  EXPECT_EQ(standInCalls("cuGraphExecKernelNodeSetParams"), 0);
  ASSERT_TRUE(updates.update());
  EXPECT_EQ(standInCalls("cuGraphExecKernelNodeSetParams"), 1);
  EXPECT_EQ(standInCalls("cuGraphInstantiate"), 1);
  standInHold(false);
  EXPECT_EQ(floats(old.toHost()), std::vector<float>(32, -0.5f));
  EXPECT_EQ(floats(updates.w.toHost()), std::vector<float>(32, -1.f));
}

/// A scan over three layers, whose carried value is an argument.
constexpr const char *scanText = R"(
#mesh = #dtensor.mesh<batch = 2>
#full = #dtensor.layout<#mesh, [*, *]>
#stack = #dtensor.layout<#mesh, [*, *, *]>
func.func @main(%w: tensor<3x8x8xf32, #stack>, %x: tensor<4x8xf32, #full>) -> tensor<4x8xf32, #full> {
  %c = dtensor.constant dense<0> : tensor<i32>
  %0:2 = dtensor.while (%c, %x) : (tensor<i32>, tensor<4x8xf32, #full>) -> (tensor<i32>, tensor<4x8xf32, #full>) cond {
  ^bb0(%i: tensor<i32>, %h: tensor<4x8xf32, #full>):
    %n = dtensor.constant dense<3> : tensor<i32>
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %h: tensor<4x8xf32, #full>):
    %z = dtensor.constant dense<0> : tensor<i32>
    %s = dtensor.dynamic_slice %w at %i, %z, %z sizes [1, 8, 8] : (tensor<3x8x8xf32, #stack>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %l = dtensor.reshape %s : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
    %d = dtensor.matmul %h, %l : (tensor<4x8xf32, #full>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %t = dtensor.tanh %d : tensor<4x8xf32>
    %r = dtensor.add %t, %h : (tensor<4x8xf32>, tensor<4x8xf32, #full>) -> tensor<4x8xf32, #full>
    %one = dtensor.constant dense<1> : tensor<i32>
    %j = dtensor.add %i, %one : tensor<i32>
    dtensor.yield %j, %r : tensor<i32>, tensor<4x8xf32, #full>
  }
  return %0#1 : tensor<4x8xf32, #full>
}
)";

// The turns of a loop of three are one graph. Without graphs the host asks for
// them turn by turn, and reads no condition.
TEST_F(CUDATest, LoopsOfKnownTurnsDoNotWaitForTheGPU) {
  auto run = [](const std::string &platform, const char *target,
                bool isHeldBack) {
    auto client = clientOf(platform, 2).value_or_throw();
    auto executable =
        client->load(compileFor(target, scanText)).value_or_throw();
    std::vector<Array> arguments;
    for (const auto &argument : executable->signature().arguments) {
      std::vector<float> numbers =
          counting(elementCount(argument.type.shape), 0);
      for (float &number : numbers)
        number = std::sin(number);
      arguments.push_back(
          Array::fromHost(client, argument.type,
                          {reinterpret_cast<const char *>(numbers.data()),
                           numbers.size() * sizeof(float)})
              .value_or_throw());
    }
    standInHold(isHeldBack);
    auto results = executable->execute(std::move(arguments)).value_or_throw();
    if (isHeldBack)
      EXPECT_FALSE(results[0].event().isReady());
    standInHold(false);
    return floats(results[0].toHost());
  };
  const std::vector<float> expected = run("cpu", "cpu", false);
  for (int graphs : {1, 0}) {
    begin("seed=9");
    const std::vector<float> result =
        run(platformName(fmt::format(",graphs={}", graphs)), "cuda", true);
    for (size_t i = 0; i < result.size(); ++i)
      EXPECT_NEAR(result[i], expected[i], 1e-5);
    EXPECT_EQ(standInCalls("cuGraphLaunch"), graphs);
    EXPECT_EQ(standInCalls("cuGraphInstantiate"), graphs);
    EXPECT_STREQ(standInFault(), "");
  }
}

/// A loop of %n turns whose values change places, with a branch in it: (u, v) =
/// (v + u in the second turn, else v; 2 u). A branch that gives the loop's
/// first value or half of it comes after it.
constexpr const char *controlText = R"(
#mesh = #dtensor.mesh<batch = 2>
#full = #dtensor.layout<#mesh, [*, *]>
#scalar = #dtensor.layout<#mesh, []>
func.func @main(%x: tensor<4x8xf32, #full>, %n: tensor<i32, #scalar>) -> (tensor<4x8xf32, #full>, tensor<4x8xf32, #full>, tensor<4x8xf32, #full>) {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %0:3 = dtensor.while (%zero, %x, %x) : (tensor<i32>, tensor<4x8xf32, #full>, tensor<4x8xf32, #full>) -> (tensor<i32>, tensor<4x8xf32, #full>, tensor<4x8xf32, #full>) cond {
  ^bb0(%i: tensor<i32>, %u: tensor<4x8xf32, #full>, %v: tensor<4x8xf32, #full>):
    %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32, #scalar>) -> tensor<i1>
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %u: tensor<4x8xf32, #full>, %v: tensor<4x8xf32, #full>):
    %s = dtensor.case %i : (tensor<i32>) -> tensor<4x8xf32, #full> {
      dtensor.yield %v : tensor<4x8xf32, #full>
    }, {
      %b = dtensor.add %v, %u : tensor<4x8xf32, #full>
      dtensor.yield %b : tensor<4x8xf32, #full>
    }, {
      dtensor.yield %v : tensor<4x8xf32, #full>
    }
    %t = dtensor.add %u, %u : tensor<4x8xf32, #full>
    %j = dtensor.add %i, %one : tensor<i32>
    dtensor.yield %j, %s, %t : tensor<i32>, tensor<4x8xf32, #full>, tensor<4x8xf32, #full>
  }
  %1 = dtensor.case %n : (tensor<i32, #scalar>) -> tensor<4x8xf32, #full> {
    dtensor.yield %0#1 : tensor<4x8xf32, #full>
  }, {
    %half = dtensor.constant dense<0.5> : tensor<4x8xf32>
    %h = dtensor.multiply %0#1, %half : (tensor<4x8xf32, #full>, tensor<4x8xf32>) -> tensor<4x8xf32, #full>
    dtensor.yield %h : tensor<4x8xf32, #full>
  }
  return %0#1, %0#2, %1 : tensor<4x8xf32, #full>, tensor<4x8xf32, #full>, tensor<4x8xf32, #full>
}
)";

/// Runs of that program, from ones on.
class ControlRuns {
public:
  ControlRuns() {
    client = clientOf(platformName(",graphs=1"), 2).value_or_throw();
    executable = client->load(compileFor("cuda", controlText)).value_or_throw();
    const std::vector<float> ones(32, 1.f);
    x = argument(0, ones);
  }
  template <typename T>
  Array argument(size_t index, const std::vector<T> &values) const {
    return Array::fromHost(client,
                           executable->signature().arguments[index].type,
                           {reinterpret_cast<const char *>(values.data()),
                            values.size() * sizeof(T)})
        .value_or_throw();
  }
  auto run(int32_t turns) {
    return executable->execute({x, argument(1, std::vector{turns})});
  }

  std::shared_ptr<Client> client;
  std::shared_ptr<Executable> executable;
  Array x;
};

// The card reads the conditions: a loop and a branch are a graph each, which
// the next call uses again. Drivers that are older leave them to the host.
TEST_F(CUDATest, LoopsAndBranchesDoNotWaitForTheGPU) {
  for (auto [options, isNew] :
       {std::pair("order=first", true), std::pair("order=last", true),
        std::pair("seed=6", true), std::pair("driver=12020", false)}) {
    begin(options);
    ControlRuns runs;
    const int64_t before = runs.client->bytesInUse();
    using Expected = std::array<float, 3>;
    for (auto [turns, expected] :
         {std::pair(0, Expected{1, 1, 1}), std::pair(1, Expected{1, 2, .5f}),
          std::pair(4, Expected{6, 4, 3})}) {
      standInHold(isNew);
      auto results = runs.run(turns);
      ASSERT_TRUE(results) << results.error().message();
      if (isNew)
        EXPECT_FALSE((*results)[0].event().isReady());
      standInHold(false);
      for (size_t r = 0; r < expected.size(); ++r)
        EXPECT_EQ(floats((*results)[r].toHost()),
                  std::vector<float>(32, expected[r]));
    }
    EXPECT_EQ(floats(runs.x.toHost()), std::vector<float>(32, 1.f));
    EXPECT_EQ(runs.client->bytesInUse(), before);
    EXPECT_EQ(standInCalls("cuGraphAddNode"), isNew ? 6 : 0);
    if (isNew)
      EXPECT_EQ(standInCalls("cuGraphInstantiate"), 2);
    EXPECT_STREQ(standInFault(), "");
  }
}

// A loop that fails before it begins leaves its arguments as they were.
TEST_F(CUDATest, LoopsThatCannotBeRecordedEndOneCall) {
  begin("fail=cuGraphAddNode:2:1");
  ControlRuns runs;
  auto failed = runs.run(4);
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message(),
              HasSubstr("cuGraphAddNode fails with CUDA_ERROR_INVALID_VALUE"));
  auto results = runs.run(4);
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_EQ(floats((*results)[0].toHost()), std::vector<float>(32, 6.f));
}

// 700 is CUDA_ERROR_ILLEGAL_ADDRESS: the call is over by then.
TEST_F(CUDATest, FailuresAreReportedWhenResultsAreRead) {
  begin("fail=cuEventSynchronize:1:700");
  auto client = clientOf(platformName(), 2).value_or_throw();
  HeldUpdates updates(client);
  ASSERT_TRUE(updates.update());
  const Array first = updates.w;
  ASSERT_TRUE(updates.update());
  standInHold(false);
  for (const Array &array : {first, updates.w}) {
    auto value = array.toHost();
    ASSERT_FALSE(value);
    EXPECT_THAT(value.error().message(),
                HasSubstr("in program 'main': GPU 0 (stand-in): "
                          "cuEventSynchronize fails with "
                          "CUDA_ERROR_ILLEGAL_ADDRESS"));
  }
  EXPECT_FALSE(updates.update()) << "the GPU is lost";
}

// Another error ends one call, and the next one runs.
TEST_F(CUDATest, OtherErrorsEndOneCall) {
  begin("fail=cuGraphAddKernelNode:2:1");
  auto client = clientOf(platformName(), 2);
  ASSERT_TRUE(client);
  auto first = runStep(*client, "cuda", 2);
  ASSERT_FALSE(first);
  EXPECT_THAT(first.error().message(),
              HasSubstr("cuGraphAddKernelNode fails with "
                        "CUDA_ERROR_INVALID_VALUE"));
  EXPECT_TRUE(runStep(*client, "cuda", 2));
  *client = nullptr;
  EXPECT_EQ(standInBytes(), 0);
}
} // namespace
