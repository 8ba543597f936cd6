// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines: they compute what the model without one does.
// test/Core/PipelineScheduleTest.cpp has the order of their tasks.
#include "Testing.h"

namespace meshloom {
namespace {

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
       {PipelineSchedule::GPIPE, PipelineSchedule::ONE_FORWARD_ONE_BACKWARD,
        PipelineSchedule::ZERO_BUBBLE})
    for (int64_t microbatches : {1, 2, 4}) {
      SCOPED_TRACE(testing::Message() << "schedule " << int(schedule) << ", "
                                      << microbatches << " microbatches");
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

/// Four stages of two layers each, in turn on two sets of devices.
struct DeepModel {
  std::vector<Mesh> meshes{create_mesh({{"a", 2}}, {"CPU:0", "CPU:1"}),
                           create_mesh({{"b", 2}}, {"CPU:2", "CPU:3"})};
  std::vector<DVariable> weights;
  std::vector<PipelineStage> stages;
  DeepModel() {
    for (size_t stage = 0; stage < 4; ++stage) {
      const Mesh &mesh = meshes[stage % 2];
      for (int layer = 0; layer < 2; ++layer)
        weights.emplace_back(
            copy_to_mesh(sample({4, 4}, int(2 * stage) + layer), mesh));
      const DVariable first = weights[2 * stage], second = weights.back();
      stages.push_back({[=](const Tensor &x) {
                          return tanh(matmul(tanh(matmul(x, first)), second));
                        },
                        {first, second},
                        Layout({stage % 2 ? "b" : "a", UNSHARDED}, mesh)});
    }
  }
  /// The loss and all gradients, and the number of programs of the step.
  std::pair<std::vector<Tensor>, int64_t>
  step(const Tensor &x, const Tensor &y, PipelineSchedule schedule) const {
    const Pipeline pipe = pipeline(stages, 4, schedule);
    auto compute = function([&](const Tensor &x, const Tensor &y) {
      const PipelineGradients result = pipe.gradients(x, y, meanSquaredError);
      std::vector<Tensor> values{result.loss};
      for (const VariableGradient &pair : result.gradients)
        values.push_back(pair.gradient);
      return values;
    });
    std::vector<Tensor> values = compute(x, y);
    return {values, compute.get_concrete_function(x, y).num_programs()};
  }
};

// Sets of devices with several stages, and stages whose gradients are in two
// parts, compute the same as those without.
TEST(PipelineTest, InterleavedAndZeroBubbleComputeTheSame) {
  const DeepModel model;
  const Tensor x = sample({8, 4}), y = sample({8, 4}, 9);
  const auto [wanted, programs] =
      model.step(x, y, PipelineSchedule::ONE_FORWARD_ONE_BACKWARD);
  for (PipelineSchedule schedule :
       {PipelineSchedule::INTERLEAVED, PipelineSchedule::ZERO_BUBBLE}) {
    SCOPED_TRACE(int(schedule));
    const auto [got, count] = model.step(x, y, schedule);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i)
      expectSame(got[i], wanted[i]);
    // Three stages, which others wait for, have one more for each microbatch.
    EXPECT_EQ(count,
              programs +
                  (schedule == PipelineSchedule::ZERO_BUBBLE ? 3 * 4 : 0));
  }
}

// A person cuts layers by their times, and sees what a schedule would take.
TEST(PipelineTest, PredictsAndCuts) {
  EXPECT_EQ(cut_stages({4, 1, 1, 2, 3}, 3), (std::vector<size_t>{0, 1, 4}));
  const std::vector<PipelineStageTime> times(4, {10, 10, 10, 0});
  const PipelinePrediction plain = predict_pipeline(times, 8);
  EXPECT_EQ(plain.time, 30 * (8 + 3));
  EXPECT_EQ(plain.held, (std::vector<int64_t>{4, 3, 2, 1}));
  EXPECT_EQ(predict_pipeline(times, 8, PipelineSchedule::ZERO_BUBBLE).time,
            30 * 8 + 10 * 3);
  EXPECT_ERROR(predict_pipeline({}, 8), HAS("[predict_pipeline]"),
               HAS("at least one stage"));
  EXPECT_ERROR(cut_stages({1, 2}, 3), HAS("[cut_stages]"), HAS("1 to 2"));
}

// Times of stages come from the program: the first stage gives nobody a
// gradient, and a machine whose devices share memory sends nothing.
TEST(PipelineTest, PredictsTheTimesOfStages) {
  const Model model;
  const Pipeline pipe = pipeline(model.stages(), 4);
  const Tensor x = sample({8, 5}), y = sample({8, 2}, 9);
  const std::vector<PipelineStageTime> times =
      pipe.stage_times(x, y, meanSquaredError, "gpu:h100");
  ASSERT_EQ(times.size(), 3u);
  for (size_t stage = 0; stage < 3; ++stage) {
    SCOPED_TRACE(stage);
    EXPECT_GT(times[stage].forward, 0);
    EXPECT_GT(times[stage].weightGradient, 0);
    EXPECT_GT(times[stage].transfer, 0);
    EXPECT_EQ(times[stage].backward > 0, stage > 0);
  }
  EXPECT_GT(predict_pipeline(times, 4).time, 4 * times[2].forward);
  EXPECT_EQ(pipe.stage_times(x, y, meanSquaredError, "shared-memory")
                .front()
                .transfer,
            0);
  EXPECT_ERROR((void)pipe.stage_times(x, y, meanSquaredError, "gpu:none"),
               HAS("[stage_times]"), HAS("gpu:none"));
  auto traced = function([&](const Tensor &x, const Tensor &y) {
    (void)pipe.stage_times(x, y, meanSquaredError, "gpu:h100");
    return x;
  });
  EXPECT_ERROR((void)traced(x, y), HAS("outside of a function"));
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
  EXPECT_ERROR(pipeline(DeepModel().stages, 3, PipelineSchedule::INTERLEAVED),
               HAS("multiple of the 2 sets of devices, got 3"));
  std::vector<PipelineStage> mixed = DeepModel().stages;
  std::swap(mixed[2], mixed[3]);
  EXPECT_ERROR(pipeline(mixed, 4, PipelineSchedule::INTERLEAVED),
               HAS("stage 2 on the devices of stage 0"));
  mixed.pop_back();
  EXPECT_ERROR(pipeline(mixed, 4, PipelineSchedule::INTERLEAVED),
               HAS("number of stages that is a multiple of the 2 sets"));
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
