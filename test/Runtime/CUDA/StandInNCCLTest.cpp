// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stand-in NCCL finds the faults that are put into exchanges of two ranks,
// each with a GPU of its own.
#include "../../../lib/Runtime/Backends/CUDA/NCCLFacts.h"
#include "StandInDriver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshloom::cuda;
using testing::HasSubstr;

extern "C" {
#define MESHLOOM_DRIVER_FUNCTION(name, ...) DriverResult name(__VA_ARGS__);
#include "../../../lib/Runtime/Backends/CUDA/DriverFunctions.def"
#undef MESHLOOM_DRIVER_FUNCTION
#define MESHLOOM_NCCL_FUNCTION(name, ...) NCCLResult name(__VA_ARGS__);
#include "../../../lib/Runtime/Backends/CUDA/NCCLFunctions.def"
#undef MESHLOOM_NCCL_FUNCTION
}

namespace {
constexpr size_t count = 6;

class StandInNCCLTest : public testing::Test {
protected:
  struct Rank {
    int gpu = 0;
    ContextHandle context = nullptr;
    StreamHandle stream = nullptr;
    NCCLHandle handle = nullptr;
    DevicePointer memory = 0;
    float *data() const { return reinterpret_cast<float *>(memory); }
  };

  void begin(int secondGPU = 1) {
    ASSERT_TRUE(standInBegin("gpus=2,patience=50,order=last"));
    ASSERT_EQ(cuInit(0), DriverResult::Success);
    NCCLId id;
    ASSERT_EQ(ncclGetUniqueId(&id), NCCLResult::Success);
    ranks[1].gpu = secondGPU;
    for (int r : {0, 1}) {
      Rank &rank = ranks[r];
      ASSERT_EQ(cuDevicePrimaryCtxRetain(&rank.context, rank.gpu),
                DriverResult::Success);
      use(rank);
      ASSERT_EQ(cuStreamCreate(&rank.stream, streamNonBlocking),
                DriverResult::Success);
      ASSERT_EQ(
          cuMemAllocAsync(&rank.memory, count * sizeof(float), rank.stream),
          DriverResult::Success);
      ASSERT_EQ(cuStreamSynchronize(rank.stream), DriverResult::Success);
      for (size_t i = 0; i < count; ++i)
        rank.data()[i] = float(i + 10 * size_t(r));
      NCCLConfig config;
      ASSERT_EQ(ncclCommInitRankConfig(&rank.handle, 2, id, r, &config),
                NCCLResult::InProgress);
    }
  }
  void TearDown() override {
    for (Rank &rank : ranks) {
      (void)ncclCommAbort(rank.handle);
      (void)cuDevicePrimaryCtxRelease_v2(rank.gpu);
    }
  }
  static void use(const Rank &rank) {
    ASSERT_EQ(cuCtxSetCurrent(rank.context), DriverResult::Success);
  }
  /// Rank `from` sends the first half, and the other one receives the second.
  void send(size_t sent, size_t received) {
    use(ranks[0]);
    ASSERT_EQ(ncclGroupStart(), NCCLResult::Success);
    ASSERT_EQ(ncclSend(ranks[0].data(), sent, NCCLType::F32, 1, ranks[0].handle,
                       ranks[0].stream),
              NCCLResult::Success);
    ASSERT_EQ(ncclGroupEnd(), NCCLResult::Success);
    use(ranks[1]);
    ASSERT_EQ(ncclGroupStart(), NCCLResult::Success);
    ASSERT_EQ(ncclRecv(ranks[1].data() + count / 2, received, NCCLType::F32, 0,
                       ranks[1].handle, ranks[1].stream),
              NCCLResult::Success);
    ASSERT_EQ(ncclGroupEnd(), NCCLResult::Success);
  }
  NCCLResult sum(int r, NCCLReduction reduction) {
    use(ranks[r]);
    return ncclAllReduce(ranks[r].data(), ranks[r].data(), count, NCCLType::F32,
                         reduction, ranks[r].handle, ranks[r].stream);
  }
  DriverResult finish(int r) {
    use(ranks[r]);
    return cuStreamSynchronize(ranks[r].stream);
  }

  Rank ranks[2];
};

TEST_F(StandInNCCLTest, SendsAndSums) {
  begin();
  send(count / 2, count / 2);
  for (int r : {0, 1})
    ASSERT_EQ(sum(r, NCCLReduction::Sum), NCCLResult::Success);
  for (int r : {0, 1}) {
    ASSERT_EQ(finish(r), DriverResult::Success);
    EXPECT_THAT(std::vector<float>(ranks[r].data(), ranks[r].data() + count),
                testing::ElementsAre(10, 12, 14, 3, 5, 7));
  }
  EXPECT_STREQ(standInFault(), "");
}

TEST_F(StandInNCCLTest, FindsSizesThatDiffer) {
  begin();
  send(2, 3);
  EXPECT_EQ(finish(1), DriverResult::LaunchFailed);
  EXPECT_STREQ(standInFault(), "rank 1 of NCCL receives 3 of type 7, and rank "
                               "0 sends 2 of type 7");
}

TEST_F(StandInNCCLTest, FindsSumsThatDiffer) {
  begin();
  ASSERT_EQ(sum(0, NCCLReduction::Sum), NCCLResult::Success);
  ASSERT_EQ(sum(1, NCCLReduction::Max), NCCLResult::Success);
  EXPECT_EQ(finish(0), DriverResult::LaunchFailed);
  EXPECT_THAT(standInFault(), HasSubstr("makes a sum 2 of 6 of type 7"));
}

TEST_F(StandInNCCLTest, NamesTheRankThatDoesNotCome) {
  begin();
  ASSERT_EQ(sum(1, NCCLReduction::Sum), NCCLResult::Success);
  EXPECT_EQ(finish(1), DriverResult::LaunchTimeout);
  EXPECT_STREQ(standInFault(), "cuStreamSynchronize waits in vain: rank 1 of "
                               "NCCL waits for collective 0 of rank 0");
}

TEST_F(StandInNCCLTest, RefusesTwoRanksOnOneGPU) {
  begin(/*secondGPU=*/0);
  NCCLResult state = NCCLResult::Success;
  ASSERT_EQ(ncclCommGetAsyncError(ranks[0].handle, &state),
            NCCLResult::Success);
  EXPECT_EQ(state, NCCLResult::InvalidUsage);
}

TEST_F(StandInNCCLTest, AbortEndsWhatIsUnderWay) {
  begin();
  ASSERT_EQ(sum(0, NCCLReduction::Sum), NCCLResult::Success);
  EXPECT_EQ(ncclCommAbort(ranks[0].handle), NCCLResult::Success);
  EXPECT_EQ(finish(0), DriverResult::Success);
}
} // namespace
