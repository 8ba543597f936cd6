// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The snippets of docs/ModelParallelism.md.
#include <meshloom/Meshloom.h>

#include <cmath>
#include <iostream>

using namespace meshloom;

static int failures = 0;
static void expect(bool holds, const char *condition) {
  if (holds)
    return;
  std::cerr << condition << "\n";
  ++failures;
}
static Tensor meanSquaredError(const Tensor &predictions,
                               const Tensor &labels) {
  return reduce_mean(square(predictions - labels));
}

// clang-format off
int main() {
  Mesh front = create_mesh({{"batch", 2}}, {"CPU:0", "CPU:1"});
  Mesh back = create_mesh({{"batch", 2}}, {"CPU:2", "CPU:3"});
  DVariable w1(copy_to_mesh(random::stateless_normal({4, 8}, Seed{1, 2}), front));
  DVariable w2(copy_to_mesh(random::stateless_normal({8, 1}, Seed{3, 4}), back));

  auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    Tensor hidden = tanh(matmul(x, w1)); // on CPU:0 and CPU:1
    Tensor moved = relayout(hidden, Layout({"batch", UNSHARDED}, back));
    Tensor loss = reduce_mean(square(matmul(moved, w2) - y)); // on CPU:2 and CPU:3
    for (const auto &[gradient, variable] : tape.gradient(loss, {w1, w2}))
      variable.assign_sub(0.05 * gradient);
    return loss;
  });

  Tensor x = random::stateless_normal({8, 4}, Seed{5, 6});
  Tensor y = reduce_sum(x, {1}, true);
  const float first = step(x, y).item<float>();
  for (int i = 0; i < 20; ++i)
    step(x, y);
  expect(step(x, y).item<float>() < first, "two layers do not learn");
  expect(step.get_concrete_function(x, y).num_programs() == 3, "programs");

  {
    DVariable a, b;
    {
      auto scope = device("CPU:1");
      a = DVariable(ones({2}));
    }
    {
      auto scope = device("CPU:2");
      b = DVariable(ones({2}));
    }
    Tensor sum = a + b; // on CPU:1
    expect(sum.device() == "CPU:1", "where the sum is");
  }

  auto layer = [](const DVariable &w) {
    return [w](const Tensor &x) { return tanh(matmul(x, w)); };
  };
  Pipeline model = pipeline({{layer(w1), {w1}, Layout({"batch", UNSHARDED}, front)},
                             {layer(w2), {w2}}},
                            4, PipelineSchedule::ONE_FORWARD_ONE_BACKWARD);
  auto train = function([&](const Tensor &x, const Tensor &y) {
    auto [loss, gradients] = model.gradients(x, y, meanSquaredError);
    for (const auto &[gradient, variable] : gradients)
      variable.assign_sub(0.05 * gradient);
    return loss;
  });
  const float before = meanSquaredError(model(x), y).item<float>();
  const float seen = train(x, y).item<float>();
  expect(std::abs(before - seen) < 1e-5f, "loss of the pipeline");
  for (int i = 0; i < 20; ++i)
    train(x, y);
  expect(train(x, y).item<float>() < seen, "the pipeline does not learn");
  std::vector<PipelineStageTime> times = model.stage_times(x, y, meanSquaredError, "gpu:h100");
  PipelinePrediction plan = predict_pipeline(times, 4, PipelineSchedule::ZERO_BUBBLE);
  expect(plan.time > 0 && plan.bubble > 0, "prediction of the pipeline");
  std::vector<int64_t> layers;
  for (const PipelineStageTime &time : times)
    layers.push_back(time.forward + time.backward + time.weightGradient);
  std::vector<size_t> first_layers = cut_stages(layers, 2);
  expect(first_layers == std::vector<size_t>{0, 1}, "cuts of stages");
  {
    set_logical_device_configuration(list_physical_devices("CPU").front(),
                                     std::vector<LogicalDeviceConfiguration>(8 / num_clients()));
    Mesh first = create_submesh({{"batch", 2}}, {"CPU:0", "CPU:1"});
    Mesh last = create_submesh({{"batch", 2}}, {"CPU:6", "CPU:7"}); // of the last process
    const Tensor there = copy_to_mesh(copy_to_mesh(x, first) * 2.0, last);
    expect(there.device() == "CPU:6 ... CPU:7", "where the value is");
  }
  return failures;
}
