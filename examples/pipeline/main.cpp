// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A classifier of two spirals in four stages, each on two devices of its own,
// trained by Adam in a pipeline. Alone it runs on eight virtual CPUs; started
// as `mesh-launch -n 2 pipeline` or `-n 4 pipeline`, the stages are in as many
// processes. The losses of the first steps are compared with those of the model
// on one device. `pipeline FOLDER zero-bubble` writes the checkpoint to FOLDER
// and takes that schedule instead of 1f1b; gpipe is a third one.
#include <meshloom/Meshloom.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>

using namespace meshloom;

namespace {

constexpr int64_t stageCount = 4, devicesEach = 2, width = 32, points = 256;

/// Points of two spirals that turn into each other, and which one each is of.
std::pair<Tensor, Tensor> spirals() {
  std::vector<float> places, labels;
  for (int64_t i = 0; i < points; ++i) {
    const float turn = float(i / 2) / float(points / 2);
    const float angle = 6.0f * turn + (i % 2 ? 3.1415927f : 0.0f);
    places.push_back(turn * std::cos(angle));
    places.push_back(turn * std::sin(angle));
    labels.push_back(float(i % 2));
  }
  return {tensor(places, {points, 2}), tensor(labels, {points, 1})};
}

/// The weights of a stage, at the beginning.
std::vector<Tensor> initialWeights(int64_t stage) {
  const int64_t in = stage == 0 ? 2 : width;
  const int64_t out = stage + 1 == stageCount ? 1 : width;
  const double scale = std::sqrt(2.0 / double(in));
  return {random::stateless_normal({in, out}, Seed{7, uint32_t(stage)}) * scale,
          zeros({out})};
}

Tensor forward(int64_t stage, const std::vector<DVariable> &weights,
               const Tensor &x) {
  const Tensor y = matmul(x, weights[0]) + weights[1];
  return stage + 1 == stageCount ? y : tanh(y);
}

Tensor meanLoss(const Tensor &logits, const Tensor &labels) {
  return losses::BinaryCrossentropy({.from_logits = true})(labels, logits);
}

/// Stages on submeshes: {CPU:0, CPU:1}, {CPU:2, CPU:3}, ... of all processes.
std::vector<PipelineStage> makeStages() {
  std::vector<PipelineStage> stages;
  for (int64_t stage = 0; stage < stageCount; ++stage) {
    std::vector<DeviceSpec> devices;
    for (int64_t i = 0; i < devicesEach; ++i)
      devices.push_back({"CPU", stage * devicesEach + i});
    const Mesh mesh = create_submesh({{"batch", devicesEach}}, devices);
    std::vector<DVariable> weights;
    for (const Tensor &value : initialWeights(stage))
      weights.emplace_back(copy_to_mesh(value, mesh));
    stages.push_back(
        {[=](const Tensor &x) { return forward(stage, weights, x); }, weights,
         Layout({"batch", UNSHARDED}, mesh)});
  }
  return stages;
}

/// The weights, by stage and place.
Checkpoint::Objects objectsOf(const std::vector<PipelineStage> &stages) {
  Checkpoint::Objects objects;
  for (size_t stage = 0; stage < stages.size(); ++stage)
    for (size_t i = 0; i < stages[stage].variables.size(); ++i)
      objects.emplace_back("stage" + std::to_string(stage) +
                               (i ? "/bias" : "/kernel"),
                           stages[stage].variables[i]);
  return objects;
}

PipelineSchedule scheduleOf(const std::string &name) {
  if (name == "gpipe")
    return PipelineSchedule::GPIPE;
  if (name == "1f1b")
    return PipelineSchedule::ONE_FORWARD_ONE_BACKWARD;
  if (name == "zero-bubble")
    return PipelineSchedule::ZERO_BUBBLE;
  throw Error("expected the schedule gpipe, 1f1b or zero-bubble, got " + name);
}

int run(const std::filesystem::path &folder, PipelineSchedule schedule) {
  const int64_t perProcess = stageCount * devicesEach / num_clients();
  set_logical_device_configuration(
      list_physical_devices("CPU").front(),
      std::vector<LogicalDeviceConfiguration>(size_t(perProcess)));
  const auto [x, y] = spirals();

  const std::vector<PipelineStage> stages = makeStages();
  const Pipeline model = pipeline(stages, 4, schedule);
  optimizers::Adam adam({.learning_rate = 0.01});
  auto step = function([&](const Tensor &points, const Tensor &labels) {
    auto [loss, gradients] = model.gradients(points, labels, meanLoss);
    adam.apply_gradients(gradients);
    return loss;
  });

  // The same on one device.
  std::vector<std::vector<DVariable>> plain;
  std::vector<DVariable> plainVariables;
  for (int64_t stage = 0; stage < stageCount; ++stage) {
    std::vector<DVariable> &weights = plain.emplace_back();
    for (const Tensor &value : initialWeights(stage))
      plainVariables.push_back(weights.emplace_back(value));
  }
  optimizers::Adam plainAdam({.learning_rate = 0.01});
  auto plainStep = function([&](const Tensor &points, const Tensor &labels) {
    GradientTape tape;
    Tensor value = points;
    for (int64_t stage = 0; stage < stageCount; ++stage)
      value = forward(stage, plain[size_t(stage)], value);
    const Tensor loss = meanLoss(value, labels);
    plainAdam.apply_gradients(tape.gradient(loss, plainVariables));
    return loss;
  });

  const bool prints = client_id() == 0;
  for (int i = 0; i <= 200; ++i) {
    const float loss = step(x, y).item<float>();
    // Later, the last bits have grown.
    if (i < 10 && std::abs(loss - plainStep(x, y).item<float>()) > 1e-4f)
      throw Error("the pipeline has another loss than the model without one");
    if (prints && i % 50 == 0)
      std::printf("step %d: loss %.4f\n", i, double(loss));
  }

  // A checkpoint has the parts of all processes; it restores into new stages.
  Checkpoint::Objects objects = objectsOf(stages);
  objects.emplace_back("adam", adam);
  Checkpoint(objects).write(folder);
  const std::vector<PipelineStage> restored = makeStages();
  Checkpoint(objectsOf(restored))
      .restore(folder, {.allow_extra_objects = true});
  const Tensor logits =
      copy_to_mesh(pipeline(restored, 4)(x),
                   create_distributed_mesh({{"process", num_clients()}}));
  int64_t right = 0;
  const std::vector<float> values = logits.to_vector<float>();
  for (int64_t i = 0; i < points; ++i)
    right += (values[size_t(i)] > 0) == (i % 2 == 1);
  if (prints)
    std::printf("restored: accuracy %.4f\n", double(right) / double(points));
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  try {
    return run(argc > 1 ? argv[1] : "pipeline-checkpoint",
               scheduleOf(argc > 2 ? argv[2] : "1f1b"));
  } catch (const std::exception &error) {
    std::cerr << "pipeline: " << error.what() << '\n';
    return 1;
  }
}
