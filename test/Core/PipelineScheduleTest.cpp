// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedules of pipelines: all small ones are in order, wait as long as the
// formulas of their inventors say, and hold no more than they promise. Cuts are
// compared with all others.
#include "meshloom/Core/PipelineSchedule.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <set>

namespace meshloom {
namespace {

using enum PipelineSchedule;
using enum PipelineWork;

/// Calls `check` with every shape of up to 5 sets, 12 microbatches and 3 stages
/// on a set that its schedule allows.
void forAllShapes(const std::function<void(const PipelineShape &)> &check) {
  for (const PipelineSchedule schedule :
       {GPIPE, ONE_FORWARD_ONE_BACKWARD, INTERLEAVED, ZERO_BUBBLE})
    for (int64_t sets = 1; sets <= 5; ++sets)
      for (int64_t m = 1; m <= 12; ++m)
        for (int64_t perSet = 1; perSet <= (schedule == INTERLEAVED ? 3 : 1);
             ++perSet) {
          if (schedule == INTERLEAVED && m % sets)
            continue;
          SCOPED_TRACE(testing::Message()
                       << "schedule " << int(schedule) << ", " << sets
                       << " sets of " << perSet << " stages, " << m
                       << " microbatches");
          check({sets * perSet, m, schedule, perSet});
        }
}

PipelinePrediction predicted(const PipelineShape &shape,
                             const PipelineStageTime &time) {
  const std::vector<PipelineStageTime> times(size_t(shape.stages), time);
  const Result<PipelinePrediction> prediction = predictPipeline(shape, times);
  EXPECT_TRUE(prediction);
  return *prediction;
}

TEST(PipelineScheduleTest, TasksComeOnceAndAfterWhatTheyNeed) {
  forAllShapes([](const PipelineShape &shape) {
    const bool splits = shape.schedule == ZERO_BUBBLE;
    const Result<std::vector<PipelineTask>> tasks = pipelineTasks(shape);
    ASSERT_TRUE(tasks);
    std::set<PipelineTask> done;
    for (const PipelineTask &task : *tasks) {
      const auto [stage, m, work] = task;
      if (work == FORWARD && stage > 0) {
        EXPECT_TRUE(done.contains({stage - 1, m, FORWARD}));
      }
      if (work == BACKWARD) {
        EXPECT_TRUE(done.contains({stage, m, FORWARD}));
        EXPECT_TRUE(stage + 1 == shape.stages ||
                    done.contains({stage + 1, m, BACKWARD}));
      }
      if (work == WEIGHT_GRADIENT) {
        EXPECT_TRUE(splits && done.contains({stage, m, BACKWARD}));
      }
      EXPECT_TRUE(done.insert(task).second);
    }
    EXPECT_EQ(int64_t(done.size()),
              (splits ? 3 : 2) * shape.stages * shape.microbatches);
  });
}

// With n sets, m microbatches and v stages a set, each set waits (n - 1) times
// for a forward and a backward of one stage: a vth of a set's stages. Zero
// bubble waits less by two gradients of variables.
TEST(PipelineScheduleTest, SetsWaitAsLongAsTheFormulasSay) {
  const PipelineStageTime time{
      .forward = 10, .backward = 10, .weightGradient = 10};
  forAllShapes([&](const PipelineShape &shape) {
    const int64_t sets = shape.stages / shape.stagesPerSet;
    if (shape.schedule == ZERO_BUBBLE && shape.microbatches < sets)
      return; // there is not enough to fill the time with
    const int64_t work = 30 * shape.microbatches * shape.stagesPerSet;
    const int64_t wait = (shape.schedule == ZERO_BUBBLE ? 10 : 30) * (sets - 1);
    const PipelinePrediction prediction = predicted(shape, time);
    EXPECT_EQ(prediction.time, work + wait);
    EXPECT_NEAR(prediction.bubble, double(wait) / double(work + wait), 1e-12);
  });
}

// Where stages differ, the slowest one is always at work but for the first
// microbatch's way to it and the last one's way back.
TEST(PipelineScheduleTest, TheSlowestStageDecides) {
  const std::vector<PipelineStageTime> times{
      {1, 1, 1, 5}, {10, 10, 10, 7}, {2, 2, 2, 0}};
  const Result<PipelinePrediction> prediction =
      predictPipeline({3, 8, GPIPE}, times);
  ASSERT_TRUE(prediction);
  // 1 + 5 forward; 8 * 10 forward; 7 + 2 + 4 + 7; 8 * 20 back; 5 + 2 back.
  EXPECT_EQ(prediction->time, 6 + 80 + 20 + 160 + 7);
}

TEST(PipelineScheduleTest, StagesHoldWhatTheScheduleSays) {
  forAllShapes([](const PipelineShape &shape) {
    const std::vector<int64_t> held = predicted(shape, {1, 1, 1, 0}).held;
    if (shape.stagesPerSet > 1)
      return;
    for (int64_t stage = 0; stage < shape.stages; ++stage) {
      const int64_t most = shape.schedule == GPIPE ? shape.microbatches
                           : shape.schedule == ZERO_BUBBLE
                               ? shape.stages
                               : shape.stages - stage;
      EXPECT_EQ(held[size_t(stage)], std::min(most, shape.microbatches));
    }
  });
}

// With n sets of v stages, set i has begun at most 2 (n - i - 1) + (v - 1) n +
// 1 tasks whose gradients it has not computed.
TEST(PipelineScheduleTest, InterleavedSetsHoldWhatTheFormulaSays) {
  const Result<std::vector<PipelineTask>> tasks =
      pipelineTasks({8, 16, INTERLEAVED, 2});
  ASSERT_TRUE(tasks);
  for (int64_t set = 0; set < 4; ++set) {
    int64_t held = 0, most = 0;
    for (const PipelineTask &task : *tasks)
      if (task.stage % 4 == set)
        most = std::max(most, held += task.work == FORWARD ? 1 : -1);
    EXPECT_EQ(most, 2 * (3 - set) + 4 + 1);
  }
}

TEST(PipelineScheduleTest, RefusesWhatDoesNotFit) {
  const auto text = [](const auto &result) {
    return result ? std::string() : result.error().message();
  };
  const auto expectText = [](const std::string &message, const char *part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expectText(text(pipelineTasks({0, 1})), "at least one stage");
  expectText(text(pipelineTasks({1, 0})), "at least 1 microbatch, got 0");
  expectText(text(pipelineTasks({5, 4, INTERLEAVED, 2})), "multiple of the 2");
  expectText(text(pipelineTasks({4, 3, INTERLEAVED, 2})),
             "multiple of the 2 sets of devices, got 3");
  expectText(text(pipelineTasks({4, 4, GPIPE, 2})), "only the schedule");
  const std::vector<PipelineStageTime> times{{1, 1, 1, 0}, {1, -1, 1, 0}};
  expectText(text(predictPipeline({3, 4}, times)), "times of 3 stages, got 2");
  expectText(text(predictPipeline({2, 4}, times)), "got less for stage 1");
  const std::vector<int64_t> layers{3, -1};
  expectText(text(cutStages(layers, 3)), "1 to 2 stages");
  expectText(text(cutStages(layers, 0)), "1 to 2 stages");
  expectText(text(cutStages(layers, 2)), "got -1 for layer 1");
}

int64_t slowestOf(const std::vector<int64_t> &times,
                  const std::vector<size_t> &cuts) {
  int64_t slowest = 0;
  for (size_t stage = 0; stage < cuts.size(); ++stage) {
    const size_t end = stage + 1 < cuts.size() ? cuts[stage + 1] : times.size();
    int64_t sum = 0;
    for (size_t layer = cuts[stage]; layer < end; ++layer)
      sum += times[layer];
    slowest = std::max(slowest, sum);
  }
  return slowest;
}

// No other choice of cuts has a faster slowest stage.
TEST(PipelineScheduleTest, CutsAreTheBest) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::vector<int64_t> times;
    for (unsigned layer = 0; layer < 9; ++layer)
      times.push_back(int64_t((seed * 7919 + layer * layer * 104729) % 23));
    std::vector<int64_t> best(10, std::numeric_limits<int64_t>::max());
    for (unsigned choice = 0; choice < 1U << 8; ++choice) {
      std::vector<size_t> cuts{0};
      for (unsigned layer = 1; layer < 9; ++layer)
        if (choice >> (layer - 1) & 1)
          cuts.push_back(layer);
      best[cuts.size()] = std::min(best[cuts.size()], slowestOf(times, cuts));
    }
    for (size_t stages = 1; stages <= 9; ++stages) {
      const Result<std::vector<size_t>> cuts = cutStages(times, stages);
      ASSERT_TRUE(cuts);
      EXPECT_EQ(cuts->size(), stages);
      EXPECT_EQ(cuts->front(), 0u);
      EXPECT_TRUE(std::ranges::is_sorted(*cuts, std::less_equal<>()));
      EXPECT_EQ(slowestOf(times, *cuts), best[stages]);
    }
  }
}

} // namespace
} // namespace meshloom
