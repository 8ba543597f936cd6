// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stand-in driver finds the faults that are put into a program of two
// streams, and refuses what the real driver refuses. The program fills 64
// numbers of a GPU from the host in one stream and doubles them in another.
#include "StandInDriver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

using namespace meshloom::cuda;
using testing::HasSubstr;

extern "C" {
#define MESHLOOM_DRIVER_FUNCTION(name, ...) DriverResult name(__VA_ARGS__);
#include "../../../lib/Runtime/Backends/CUDA/DriverFunctions.def"
#undef MESHLOOM_DRIVER_FUNCTION
}

namespace {

constexpr const char *twiceText = R"(
.version 7.8
.target sm_80
.address_size 64

	// .globl	twice
.visible .entry twice(
	.param .u64 twice_param_0
)
.maxntid 64, 1, 1
{
	.reg .b32 	%r<2>;
	.reg .f32 	%f<3>;
	.reg .b64 	%rd<5>;
	ld.param.u64 	%rd1, [twice_param_0];
	cvta.to.global.u64 	%rd2, %rd1;
	mov.u32 	%r1, %tid.x;
	mul.wide.u32 	%rd3, %r1, 4;
	add.s64 	%rd4, %rd2, %rd3;
	ld.global.f32 	%f1, [%rd4];
	add.rn.f32 	%f2, %f1, %f1;
	st.global.f32 	[%rd4], %f2;
	ret;
}
)";

constexpr size_t count = 64, bytes = count * sizeof(float);

/// The fault of the program.
enum class Bug { None, NoEdge, UseAfterFree, TooShort, FreedStaging };

class StandInDriverTest : public testing::Test {
protected:
  void begin(const std::string &options = "") {
    TearDown();
    ASSERT_TRUE(standInBegin(options.c_str()));
    ASSERT_EQ(cuInit(0), DriverResult::Success);
    DeviceNumber device = 0;
    ASSERT_EQ(cuDeviceGet(&device, 0), DriverResult::Success);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, device),
              DriverResult::Success);
    ASSERT_EQ(cuCtxSetCurrent(context), DriverResult::Success);
    ASSERT_EQ(cuStreamCreate(&copies, streamNonBlocking),
              DriverResult::Success);
    ASSERT_EQ(cuStreamCreate(&work, streamNonBlocking), DriverResult::Success);
    ModuleHandle module = nullptr;
    ASSERT_EQ(cuModuleLoadDataEx(&module, twiceText, 0, nullptr, nullptr),
              DriverResult::Success);
    ASSERT_EQ(cuModuleGetFunction(&twice, module, "twice"),
              DriverResult::Success);
  }

  void TearDown() override {
    if (std::exchange(context, nullptr))
      (void)cuDevicePrimaryCtxRelease_v2(0);
  }

  DriverResult launch(DevicePointer array, unsigned blocks = 1,
                      unsigned threads = count) {
    void *parameters[] = {&array};
    return cuLaunchKernel(twice, blocks, 1, 1, threads, 1, 1, 0, work,
                          parameters, nullptr);
  }
  void waitFor(StreamHandle stream, StreamHandle other) {
    EventHandle event = nullptr;
    ASSERT_EQ(cuEventCreate(&event, eventWithoutTiming), DriverResult::Success);
    ASSERT_EQ(cuEventRecord(event, other), DriverResult::Success);
    ASSERT_EQ(cuStreamWaitEvent(stream, event, 0), DriverResult::Success);
  }

  /// The numbers that come back; `outcome`: of waiting for them.
  std::vector<float> run(Bug bug, DriverResult &outcome) {
    DevicePointer array = 0;
    EXPECT_EQ(cuMemAllocAsync(&array, bug == Bug::TooShort ? bytes / 2 : bytes,
                              copies),
              DriverResult::Success);
    void *staging = nullptr;
    EXPECT_EQ(cuMemHostAlloc(&staging, bytes, 0), DriverResult::Success);
    auto *numbers = static_cast<float *>(staging);
    std::iota(numbers, numbers + count, 0.f);
    EXPECT_EQ(cuMemcpyHtoDAsync_v2(array, staging,
                                   bug == Bug::TooShort ? bytes / 2 : bytes,
                                   copies),
              DriverResult::Success);
    if (bug == Bug::FreedStaging) {
      outcome = cuMemFreeHost(staging);
      return {};
    }
    if (bug != Bug::NoEdge)
      waitFor(work, copies);
    if (bug == Bug::UseAfterFree) {
      EXPECT_EQ(cuMemFreeAsync(array, copies), DriverResult::Success);
      EXPECT_EQ(cuStreamSynchronize(copies), DriverResult::Success);
    }
    EXPECT_EQ(launch(array), DriverResult::Success);
    std::vector<float> results(count);
    outcome = cuMemcpyDtoHAsync_v2(results.data(), array, bytes, work);
    if (outcome == DriverResult::Success)
      outcome = cuStreamSynchronize(work);
    return results;
  }

  bool isRight(const std::vector<float> &results) {
    for (size_t i = 0; i < results.size(); ++i)
      if (results[i] != 2 * float(i))
        return false;
    return true;
  }

  ContextHandle context = nullptr;
  StreamHandle copies = nullptr, work = nullptr;
  FunctionHandle twice = nullptr;
};

TEST_F(StandInDriverTest, ProgramIsRightInEveryOrder) {
  for (const char *options :
       {"order=first", "order=last", "seed=1", "seed=2", "seed=3"}) {
    begin(options);
    DriverResult outcome{};
    const std::vector<float> results = run(Bug::None, outcome);
    EXPECT_EQ(outcome, DriverResult::Success) << options;
    EXPECT_TRUE(isRight(results)) << options;
    EXPECT_STREQ(standInFault(), "");
    EXPECT_EQ(standInLaunches(), 1);
  }
}

TEST_F(StandInDriverTest, NothingIsDoneBeforeSomebodyWaits) {
  begin();
  DevicePointer array = 0;
  ASSERT_EQ(cuMemAllocAsync(&array, bytes, work), DriverResult::Success);
  ASSERT_EQ(launch(array), DriverResult::Success);
  EXPECT_EQ(standInLaunches(), 0);
  EXPECT_EQ(cuStreamSynchronize(work), DriverResult::Success);
  EXPECT_EQ(standInLaunches(), 1);
}

// The kernel is the newer work, and nothing makes it wait for the copy.
TEST_F(StandInDriverTest, MissingEdgeIsFound) {
  begin("order=last");
  DriverResult outcome{};
  EXPECT_FALSE(isRight(run(Bug::NoEdge, outcome)) &&
               outcome == DriverResult::Success);
  // In the order of calls nobody would see it.
  begin("order=first");
  EXPECT_TRUE(isRight(run(Bug::NoEdge, outcome)));
  EXPECT_EQ(outcome, DriverResult::Success);
}

TEST_F(StandInDriverTest, UseAfterFreeIsFoundAndFinal) {
  begin();
  DriverResult outcome{};
  run(Bug::UseAfterFree, outcome);
  EXPECT_EQ(outcome, DriverResult::IllegalAddress);
  EXPECT_THAT(standInFault(), HasSubstr("reads 4 bytes outside of all arrays"));
  DevicePointer more = 0;
  EXPECT_EQ(cuMemAllocAsync(&more, bytes, work), DriverResult::IllegalAddress);
}

TEST_F(StandInDriverTest, AccessesOutsideOfAllocationsAreFound) {
  begin();
  DriverResult outcome{};
  run(Bug::TooShort, outcome);
  EXPECT_EQ(outcome, DriverResult::IllegalAddress);
  EXPECT_THAT(standInFault(), HasSubstr("outside of all arrays"));
}

TEST_F(StandInDriverTest, StagingThatIsFreedTooEarlyIsFound) {
  begin();
  DriverResult outcome{};
  run(Bug::FreedStaging, outcome);
  EXPECT_EQ(outcome, DriverResult::IllegalAddress);
  EXPECT_THAT(standInFault(), HasSubstr("memory of the host is freed"));
}

TEST_F(StandInDriverTest, MemoryOfAnotherGPUIsOutOfReach) {
  begin("gpus=2");
  ContextHandle other = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&other, 1), DriverResult::Success);
  ASSERT_EQ(cuCtxSetCurrent(other), DriverResult::Success);
  StreamHandle there = nullptr;
  ASSERT_EQ(cuStreamCreate(&there, 0), DriverResult::Success);
  DevicePointer array = 0;
  ASSERT_EQ(cuMemAllocAsync(&array, bytes, there), DriverResult::Success);
  ASSERT_EQ(cuStreamSynchronize(there), DriverResult::Success);
  ASSERT_EQ(cuCtxSetCurrent(context), DriverResult::Success);
  EXPECT_EQ(launch(array), DriverResult::Success);
  EXPECT_EQ(cuStreamSynchronize(work), DriverResult::IllegalAddress);
  // The other GPU goes on.
  ASSERT_EQ(cuCtxSetCurrent(other), DriverResult::Success);
  EXPECT_EQ(cuStreamSynchronize(there), DriverResult::Success);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(1), DriverResult::Success);
}

// Numbers come from the host and are doubled, as a graph.
TEST_F(StandInDriverTest, MissingEdgesOfGraphsAreFound) {
  for (bool hasEdge : {true, false}) {
    begin("order=last");
    DevicePointer array = 0;
    ASSERT_EQ(cuMemAllocAsync(&array, bytes, work), DriverResult::Success);
    void *staging = nullptr;
    ASSERT_EQ(cuMemHostAlloc(&staging, bytes, 0), DriverResult::Success);
    auto *numbers = static_cast<float *>(staging);
    GraphHandle graph = nullptr;
    ASSERT_EQ(cuGraphCreate(&graph, 0), DriverResult::Success);
    CopyNode copy{.fromType = MemoryType::Host,
                  .fromHost = staging,
                  .to = array,
                  .bytes = bytes};
    GraphNodeHandle first = nullptr, second = nullptr;
    ASSERT_EQ(cuGraphAddMemcpyNode(&first, graph, nullptr, 0, &copy, context),
              DriverResult::Success);
    void *parameters[] = {&array};
    const KernelNode kernel{
        .function = twice, .blockX = count, .parameters = parameters};
    ASSERT_EQ(
        cuGraphAddKernelNode(&second, graph, &first, hasEdge ? 1 : 0, &kernel),
        DriverResult::Success);
    GraphExecutableHandle executable = nullptr;
    ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0),
              DriverResult::Success);
    // The second launch has a node that is not as it was.
    for (DevicePointer target : {array, array + bytes}) {
      std::iota(numbers, numbers + count, 1.f);
      copy.to = target;
      ASSERT_EQ(
          cuGraphExecMemcpyNodeSetParams(executable, first, &copy, context),
          DriverResult::Success);
      ASSERT_EQ(cuGraphLaunch(executable, work), DriverResult::Success);
      if (target != array) {
        EXPECT_EQ(cuStreamSynchronize(work), DriverResult::IllegalAddress);
        break;
      }
      ASSERT_EQ(cuMemcpyDtoHAsync_v2(staging, array, bytes, work),
                DriverResult::Success);
      ASSERT_EQ(cuStreamSynchronize(work), DriverResult::Success);
      EXPECT_EQ(numbers[3], hasEdge ? 8.f : 4.f);
    }
  }
}

/// A kernel that sets the condition of the handle in its second parameter to
/// the number that its first one points to, and counts that down.
constexpr const char *countdownText = R"(
.version 7.8
.target sm_80
.address_size 64
.extern .func cudaGraphSetConditional
(
	.param .b64 cudaGraphSetConditional_param_0,
	.param .b32 cudaGraphSetConditional_param_1
)
;
.visible .entry countdown(
	.param .u64 countdown_param_0,
	.param .u64 countdown_param_1
)
.maxntid 1, 1, 1
{
	.reg .b32 	%r<3>;
	.reg .b64 	%rd<3>;
	ld.param.u64 	%rd1, [countdown_param_0];
	ld.param.u64 	%rd2, [countdown_param_1];
	ld.global.u32 	%r1, [%rd1];
	add.s32 	%r2, %r1, -1;
	st.global.u32 	[%rd1], %r2;
	{
	.param .b64 param0;
	st.param.b64 	[param0], %rd2;
	.param .b32 param1;
	st.param.b32 	[param1], %r1;
	call.uni 	cudaGraphSetConditional, (param0, param1);
	}
	ret;
}
)";

/// A part that a graph does not have.
enum class Lacks { Nothing, CountInBody, Edge };

// A body runs while its condition is not 0; a condition that is not set again,
// or that is read too early, is a fault.
TEST_F(StandInDriverTest, BodiesOfNodesRunAsTheirConditionsSay) {
  for (Lacks lack : {Lacks::Nothing, Lacks::CountInBody, Lacks::Edge}) {
    begin("order=last");
    ModuleHandle module = nullptr;
    ASSERT_EQ(cuModuleLoadDataEx(&module, countdownText, 0, nullptr, nullptr),
              DriverResult::Success);
    FunctionHandle countdown = nullptr;
    ASSERT_EQ(cuModuleGetFunction(&countdown, module, "countdown"),
              DriverResult::Success);
    DevicePointer array = 0, counter = 0;
    void *staging = nullptr;
    ASSERT_EQ(cuMemAllocAsync(&array, bytes, work), DriverResult::Success);
    ASSERT_EQ(cuMemAllocAsync(&counter, 4, work), DriverResult::Success);
    ASSERT_EQ(cuMemHostAlloc(&staging, bytes, 0), DriverResult::Success);
    auto *numbers = static_cast<float *>(staging);
    std::iota(numbers, numbers + count, 1.f);
    ASSERT_EQ(cuMemcpyHtoDAsync_v2(array, staging, bytes, work),
              DriverResult::Success);
    void *turns = nullptr;
    ASSERT_EQ(cuMemHostAlloc(&turns, 4, 0), DriverResult::Success);
    *static_cast<int *>(turns) = 3;
    ASSERT_EQ(cuMemcpyHtoDAsync_v2(counter, turns, 4, work),
              DriverResult::Success);
    GraphHandle graph = nullptr;
    ASSERT_EQ(cuGraphCreate(&graph, 0), DriverResult::Success);
    ConditionHandle handle = 0;
    ASSERT_EQ(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 0),
              DriverResult::Success);
    GraphExecutableHandle executable = nullptr;
    EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0),
              DriverResult::InvalidValue)
        << "no node has the handle";
    void *countParameters[] = {&counter, &handle};
    const KernelNode counts{.function = countdown,
                            .parameters = countParameters};
    void *parameters[] = {&array};
    const KernelNode kernel{
        .function = twice, .blockX = count, .parameters = parameters};
    GraphNodeHandle first = nullptr, loop = nullptr, doubled = nullptr;
    ASSERT_EQ(cuGraphAddKernelNode(&first, graph, nullptr, 0, &counts),
              DriverResult::Success);
    ConditionalNode conditional{
        .handle = handle, .type = ConditionalType::While, .context = context};
    ASSERT_EQ(cuGraphAddNode_v2(&loop, graph, &first, nullptr,
                                lack == Lacks::Edge ? 0 : 1, &conditional),
              DriverResult::Success);
    GraphHandle body = conditional.bodies[0];
    EXPECT_EQ(cuGraphAddNode_v2(&loop, body, nullptr, nullptr, 0, &conditional),
              DriverResult::InvalidValue)
        << "a node has the handle";
    const HostNode host{[](void *) {}, nullptr};
    EXPECT_EQ(cuGraphAddHostNode(&doubled, body, nullptr, 0, &host),
              DriverResult::NotSupported);
    ASSERT_EQ(cuGraphAddKernelNode(&doubled, body, nullptr, 0, &kernel),
              DriverResult::Success);
    if (lack != Lacks::CountInBody)
      ASSERT_EQ(cuGraphAddKernelNode(&first, body, &doubled, 1, &counts),
                DriverResult::Success);
    ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0),
              DriverResult::Success);
    ASSERT_EQ(cuGraphLaunch(executable, work), DriverResult::Success);
    const DriverResult done = cuStreamSynchronize(work);
    if (lack != Lacks::Nothing) {
      EXPECT_EQ(done, DriverResult::LaunchFailed);
      EXPECT_THAT(standInFault(),
                  HasSubstr("reads a condition that no kernel"));
      continue;
    }
    ASSERT_EQ(done, DriverResult::Success);
    ASSERT_EQ(cuMemcpyDtoHAsync_v2(staging, array, bytes, work),
              DriverResult::Success);
    ASSERT_EQ(cuStreamSynchronize(work), DriverResult::Success);
    EXPECT_EQ(numbers[3], 32.f);
    EXPECT_EQ(standInLaunches(), 7);
  }
}

TEST_F(StandInDriverTest, WorkIsHeldBackUntilItIsReleased) {
  begin();
  DevicePointer array = 0;
  ASSERT_EQ(cuMemAllocAsync(&array, bytes, work), DriverResult::Success);
  EventHandle event = nullptr;
  ASSERT_EQ(cuEventCreate(&event, eventWithoutTiming), DriverResult::Success);
  standInHold(true);
  ASSERT_EQ(launch(array), DriverResult::Success);
  ASSERT_EQ(cuEventRecord(event, work), DriverResult::Success);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(cuEventQuery(event), DriverResult::NotReady);
  EXPECT_EQ(standInLaunches(), 0);
  standInHold(false);
  EXPECT_EQ(cuEventSynchronize(event), DriverResult::Success);
  EXPECT_EQ(standInLaunches(), 1);
}

TEST_F(StandInDriverTest, RefusesWhatTheRealDriverRefuses) {
  begin("memory=100000");
  DevicePointer array = 0;
  EXPECT_EQ(cuMemAllocAsync(&array, 0, work), DriverResult::InvalidValue);
  EXPECT_EQ(cuMemAllocAsync(&array, 100001, work), DriverResult::OutOfMemory);
  ASSERT_EQ(cuMemAllocAsync(&array, bytes, work), DriverResult::Success);
  EXPECT_EQ(launch(array, 0), DriverResult::InvalidValue);
  EXPECT_EQ(launch(array, 1, 0), DriverResult::InvalidValue);
  EXPECT_EQ(launch(array, 1, 2048), DriverResult::InvalidValue);
  EXPECT_EQ(cuLaunchKernel(twice, 1, 1, 1, 64, 1, 1, 0, work, nullptr, nullptr),
            DriverResult::InvalidValue);
  EXPECT_EQ(cuStreamSynchronize(reinterpret_cast<StreamHandle>(&array)),
            DriverResult::InvalidHandle);
  ModuleHandle module = nullptr;
  EXPECT_EQ(cuModuleLoadDataEx(&module, "add", 0, nullptr, nullptr),
            DriverResult::InvalidPtx);
  EXPECT_EQ(cuMemFreeAsync(array, work), DriverResult::Success);
  EXPECT_EQ(cuMemFreeAsync(array, work), DriverResult::InvalidValue);
  ASSERT_EQ(cuCtxSetCurrent(nullptr), DriverResult::Success);
  EXPECT_EQ(cuStreamSynchronize(work), DriverResult::InvalidContext);
  EXPECT_FALSE(standInBegin("order=any"));
}

// Rows of 8 bytes, 16 apart, of two planes become rows side by side.
TEST_F(StandInDriverTest, CopiesOfBoxesHavePitches) {
  begin();
  DevicePointer array = 0;
  ASSERT_EQ(cuMemAllocAsync(&array, bytes, work), DriverResult::Success);
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.f);
  ASSERT_EQ(cuMemcpyHtoDAsync_v2(array, values.data(), 96, work),
            DriverResult::Success);
  CopyNode box{.from = array,
               .fromPitch = 16,
               .fromHeight = 3,
               .to = array + 128,
               .toPitch = 8,
               .toHeight = 2,
               .bytes = 8,
               .rows = 2,
               .planes = 2};
  ASSERT_EQ(cuMemcpy3DAsync_v2(&box, work), DriverResult::Success);
  ASSERT_EQ(cuMemcpyDtoHAsync_v2(values.data(), array + 128, 32, work),
            DriverResult::Success);
  ASSERT_EQ(cuStreamSynchronize(work), DriverResult::Success);
  EXPECT_EQ(std::vector<float>(values.begin(), values.begin() + 8),
            (std::vector<float>{0, 1, 4, 5, 12, 13, 16, 17}));
  box.toHeight = 1;
  EXPECT_EQ(cuMemcpy3DAsync_v2(&box, work), DriverResult::InvalidValue);
  box.toHeight = 2;
  box.toPitch = 4;
  EXPECT_EQ(cuMemcpy3DAsync_v2(&box, work), DriverResult::InvalidValue);
  // The last row of the source is behind the array.
  box.toPitch = 8;
  box.fromHeight = 20;
  ASSERT_EQ(cuMemcpy3DAsync_v2(&box, work), DriverResult::Success);
  EXPECT_EQ(cuStreamSynchronize(work), DriverResult::IllegalAddress);
}

TEST_F(StandInDriverTest, HostFunctionsMayNotUseTheDriver) {
  begin();
  DriverResult inside{};
  auto function = [](void *data) {
    int gpus = 0;
    *static_cast<DriverResult *>(data) = cuDeviceGetCount(&gpus);
  };
  ASSERT_EQ(cuLaunchHostFunc(work, function, &inside), DriverResult::Success);
  ASSERT_EQ(cuStreamSynchronize(work), DriverResult::Success);
  EXPECT_EQ(inside, DriverResult::NotPermitted);
}

TEST_F(StandInDriverTest, FailsOnDemand) {
  begin("fail=cuMemAllocAsync:2:2");
  DevicePointer array = 0;
  EXPECT_EQ(cuMemAllocAsync(&array, bytes, work), DriverResult::Success);
  EXPECT_EQ(cuMemAllocAsync(&array, bytes, work), DriverResult::OutOfMemory);
  EXPECT_EQ(cuMemAllocAsync(&array, bytes, work), DriverResult::Success);
}
} // namespace
