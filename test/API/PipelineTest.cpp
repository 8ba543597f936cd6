// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines: the order of their tasks, and that they compute what the model
// without one does.
#include "Testing.h"

#include <set>

namespace meshloom {
namespace {

using detail::PipelineTask;
using detail::pipelineTasks;

// Each task comes after those that it needs, and each once.
TEST(PipelineTest, TasksComeAfterWhatTheyNeed) {
  for (PipelineSchedule schedule :
       {PipelineSchedule::GPIPE, PipelineSchedule::ONE_FORWARD_ONE_BACKWARD})
    for (int64_t stages = 1; stages <= 5; ++stages)
      for (int64_t microbatches = 1; microbatches <= 7; ++microbatches) {
        std::set<std::tuple<int64_t, int64_t, bool>> done;
        for (const PipelineTask &task :
             pipelineTasks(stages, microbatches, schedule)) {
          const auto &[stage, m, isBackward] = task;
          if (isBackward) {
            EXPECT_TRUE(done.contains({stage, m, false}));
            EXPECT_TRUE(stage + 1 == stages ||
                        done.contains({stage + 1, m, true}));
          } else {
            EXPECT_TRUE(stage == 0 || done.contains({stage - 1, m, false}));
          }
          EXPECT_TRUE(done.insert({stage, m, isBackward}).second);
        }
        EXPECT_EQ(done.size(), size_t(2 * stages * microbatches));
      }
}

/// How many microbatches a stage has begun and not ended, at most.
int64_t mostHeld(int64_t stage, int64_t stages, int64_t microbatches,
                 PipelineSchedule schedule) {
  int64_t held = 0, most = 0;
  for (const PipelineTask &task : pipelineTasks(stages, microbatches, schedule))
    if (task.stage == stage)
      most = std::max(most, held += task.isBackward ? -1 : 1);
  return most;
}

// One forward, one backward holds no more than the stages that follow need.
TEST(PipelineTest, TheSchedulesDifferInWhatStagesHold) {
  for (int64_t stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(mostHeld(stage, 4, 8, PipelineSchedule::GPIPE), 8);
    EXPECT_EQ(mostHeld(stage, 4, 8, PipelineSchedule::ONE_FORWARD_ONE_BACKWARD),
              4 - stage);
  }
}

Tensor meanSquaredError(const Tensor &predictions, const Tensor &labels) {
  return reduce_mean(square(predictions - labels));
}

/// Three layers, each on devices of its own.
struct Model {
  std::vector<Mesh> meshes{create_mesh({{"a", 2}}, {"CPU:0", "CPU:1"}),
                           create_mesh({{"b", 2}}, {"CPU:2", "CPU:3"}),
                           create_mesh({{"c", 1}}, {"CPU:4"})};
  std::vector<DVariable> weights{
      DVariable(copy_to_mesh(sample({5, 6}, 3), meshes[0]), {.name = "w0"}),
      DVariable(copy_to_mesh(sample({6, 4}, 4), meshes[1]), {.name = "w1"}),
      DVariable(copy_to_mesh(sample({4, 2}, 5), meshes[2]), {.name = "w2"})};

  std::vector<PipelineStage> stages() const {
    auto layer = [](const DVariable &w) {
      return [w](const Tensor &x) { return tanh(matmul(x, w)); };
    };
    return {
        {layer(weights[0]), {weights[0]}, Layout({"a", UNSHARDED}, meshes[0])},
        {layer(weights[1]), {weights[1]}, Layout({"b", UNSHARDED}, meshes[1])},
        {layer(weights[2]), {weights[2]}}};
  }
  std::vector<Tensor> unpipelined(const Tensor &x, const Tensor &y) const {
    std::vector<Tensor> w;
    for (const DVariable &weight : weights)
      w.push_back(tensor(weight.to_vector<float>(), weight.shape()));
    GradientTape tape;
    Tensor value = x;
    for (const Tensor &weight : w)
      value = tanh(matmul(value, weight));
    const Tensor loss = meanSquaredError(value, y);
    std::vector<Tensor> result = tape.gradient(loss, w);
    result.insert(result.begin(), loss);
    return result;
  }
};

// Losses and gradients are those of the model without a pipeline, in a function
// and outside, whatever the schedule.
TEST(PipelineTest, ComputesWhatTheModelDoes) {
  const Model model;
  const Tensor x = sample({8, 5}), y = sample({8, 2}, 9);
  const std::vector<Tensor> wanted = model.unpipelined(x, y);
  for (PipelineSchedule schedule :
       {PipelineSchedule::GPIPE, PipelineSchedule::ONE_FORWARD_ONE_BACKWARD})
    for (int64_t microbatches : {1, 2, 4}) {
      SCOPED_TRACE(microbatches);
      const Pipeline pipe = pipeline(model.stages(), microbatches, schedule);
      const PipelineGradients got = pipe.gradients(x, y, meanSquaredError);
      expectSame(got.loss, wanted[0]);
      ASSERT_EQ(got.gradients.size(), 3u);
      for (size_t i = 0; i < 3; ++i) {
        expectSame(got.gradients[i].gradient, wanted[i + 1]);
        EXPECT_TRUE(got.gradients[i].variable.is(model.weights[i]));
        EXPECT_EQ(got.gradients[i].gradient.mesh(), model.meshes[i]);
      }
    }
}

// A step in a function trains the variables where they are.
TEST(PipelineTest, TrainsInAFunction) {
  const Model piped, plain;
  const Pipeline pipe = pipeline(piped.stages(), 4);
  auto step = function([&](const Tensor &x, const Tensor &y) {
    const PipelineGradients result = pipe.gradients(x, y, meanSquaredError);
    for (const VariableGradient &pair : result.gradients)
      pair.variable.assign_sub(0.5 * pair.gradient);
    return result.loss;
  });
  for (int turn = 0; turn < 4; ++turn) {
    const Tensor x = sample({8, 5}, 20 + turn), y = sample({8, 2}, 30 + turn);
    const std::vector<Tensor> wanted = plain.unpipelined(x, y);
    expectSame(step(x, y), wanted[0]);
    for (size_t i = 0; i < 3; ++i)
      plain.weights[i].assign_sub(
          copy_to_mesh(0.5 * wanted[i + 1], plain.meshes[i]));
  }
  for (size_t i = 0; i < 3; ++i)
    expectSame(piped.weights[i], plain.weights[i]);
  EXPECT_EQ(step.trace_count(), 1);
}

// Predictions come from the last stage, in the order of the batch.
TEST(PipelineTest, Predicts) {
  const Model model;
  const Tensor x = sample({6, 5});
  Tensor wanted = x;
  for (const DVariable &weight : model.weights)
    wanted =
        tanh(matmul(wanted, tensor(weight.to_vector<float>(), weight.shape())));
  const Tensor got = pipeline(model.stages(), 3)(x);
  expectSame(got, wanted);
  EXPECT_EQ(got.mesh(), model.meshes[2]);
}

// Mistakes are named.
TEST(PipelineTest, RefusesWhatDoesNotFit) {
  const Model model;
  EXPECT_ERROR(pipeline({}, 2), HAS("[pipeline]"), HAS("at least one stage"));
  EXPECT_ERROR(pipeline(model.stages(), 0), HAS("at least 1 microbatch"));
  EXPECT_ERROR(pipeline({{[](const Tensor &x) { return x; }, {}}}, 1),
               HAS("stage 0 has neither variables nor a layout"));
  const Pipeline pipe = pipeline(model.stages(), 3);
  EXPECT_ERROR(pipe(sample({8, 5})), HAS("3 microbatches divide"));
  EXPECT_ERROR(pipe.gradients(sample({6, 5}), sample({3, 2}), meanSquaredError),
               HAS("as many labels as examples"));
  EXPECT_ERROR(
      pipe.gradients(sample({6, 5}), sample({6, 2}),
                     [](const Tensor &p, const Tensor &y) { return p - y; }),
      HAS("scalar loss"));
}

} // namespace
} // namespace meshloom
