// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does the work that TensorFlow's tutorial "DTensor with Core APIs" ends with,
// and leaves open: variables with layouts are checkpointed and restored, under
// the same mesh or another one, and a function is exported with its variables'
// layouts.
//
// Trains a small MLP without a stop; then half as long, as a process that is
// stopped would; then the other half with new objects on another mesh, whose
// losses are those of the training that was not stopped. Last, the trained
// model is exported and loaded without its source.
#include "../options/OutputFolder.h"
#include "../options/StrategyOptions.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <iostream>

using namespace meshloom;

namespace {

constexpr int64_t rows = 48, features = 24, hidden = 16, classes = 8;

/// A layer's kernel is cut over `axis` along its outputs, the next one's along
/// its inputs, so that nothing is sent between them.
struct Mlp : Module {
  layers::Dense first, second;

  /// The layouts of a layer's kernel, cut over `axis` along `dim`, and bias.
  static LayerOptions cut(const std::optional<Mesh> &mesh,
                          const std::string &axis, unsigned dim) {
    if (!mesh)
      return {};
    const Layout kernel = axis.empty()
                              ? Layout::replicated(*mesh, 2)
                              : Layout::batch_sharded(*mesh, axis, 2, dim);
    return {.layouts = {{"kernel", kernel}, {"bias", kernel.remove({0})}}};
  }
  Mlp(const std::optional<Mesh> &mesh, const std::string &axis)
      : first(hidden,
              {.kernel_initializer = initializers::GlorotUniform(Seed{1, 2}),
               .name = "first",
               .common = cut(mesh, axis, 1)}),
        second(classes,
               {.kernel_initializer = initializers::GlorotUniform(Seed{3, 4}),
                .name = "second",
                .common = cut(mesh, axis, 0)}) {
    first.build({-1, features});
    second.build({-1, hidden});
    track(this, first, second);
  }
  Tensor operator()(const Tensor &x) const {
    return second(nn::relu(first(x)));
  }
};

/// A model with its optimizer and step; what a process has in memory.
struct Training {
  Mlp model;
  optimizers::Adam adam{1e-2};
  DVariable steps{tensor(int64_t(0)), {.name = "steps"}};
  std::optional<Layout> batch;

  Training(const std::optional<Mesh> &mesh, const std::string &axis,
           std::optional<Layout> batch)
      : model(mesh, axis), batch(std::move(batch)) {}

  Checkpoint checkpoint() const {
    return Checkpoint(
        {{"model", model}, {"optimizer", adam}, {"steps", steps}});
  }
  Tensor laidOut(const Tensor &x) const {
    if (!batch)
      return x;
    return distribute(x, x.rank() == 2 ? *batch : batch->remove({1}));
  }

  /// Losses of the steps until that number of them.
  std::vector<float> run(int64_t until, const CheckpointManager *manager) {
    auto step = function([&](const Tensor &x, const Tensor &y) {
      GradientTape tape;
      Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(
          {.labels = y, .logits = model(x)}));
      adam.apply_gradients(tape.gradient(loss, model.trainable_variables()));
      steps.assign_add(int64_t(1));
      return loss;
    });
    const Tensor count =
        iota({rows, features}, 0) * features + iota({rows, features}, 1);
    const Tensor x = laidOut(sin(cast(count, DType::F32)));
    const Tensor y = laidOut(iota({rows}, 0) % classes);
    std::vector<float> losses;
    while (steps.item<int64_t>() < until) {
      losses.push_back(step(x, y).item<float>());
      if (manager)
        manager->save();
    }
    return losses;
  }
};

float largestDifference(const std::vector<float> &x,
                        const std::vector<float> &y) {
  float largest = x.size() == y.size() ? 0 : INFINITY;
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
    largest = std::max(largest, std::abs(x[i] - y[i]));
  return largest;
}

void printLayouts(const std::string &title,
                  const std::vector<DVariable> &variables) {
  std::cout << title << ":\n";
  for (const DVariable &variable : variables) {
    const Tensor value = variable;
    std::cout << "  " << std::left << std::setw(16) << variable.name() << ' '
              << (is_dtensor(value) ? value.layout().spec_string() + " on " +
                                          value.mesh().spec_string()
                                    : "on the host")
              << '\n';
  }
}

void run(const example::StrategyOptions &options) {
  namespace fs = std::filesystem;
  const int64_t count =
      options.number("--steps", options.has("--small") ? 6 : 40);
  const fs::path folder = options.text("--folder", "dtensor_state");
  const fs::path checkpoints = folder / "checkpoints";
  example::clearFolder(checkpoints);

  std::vector<float> whole;
  const Strategy strategy = options.makeStrategy();
  const std::optional<Layout> batch = options.batchLayout(strategy, 2);
  const std::optional<Mesh> mesh =
      batch ? std::optional(batch->mesh()) : std::nullopt;
  {
    auto scope = options.scope(strategy);
    Training unstopped(mesh, "", batch);
    whole = unstopped.run(count, nullptr);
    Training stopped(mesh, "", batch);
    CheckpointManager manager(stopped.checkpoint(), checkpoints,
                              {.max_to_keep = 2,
                               .step_counter = stopped.steps,
                               .write = {.asynchronous = true}});
    manager.restore_or_initialize();
    stopped.run(count / 2, &manager);
    manager.wait();
    std::cout << "Stopped after " << count / 2 << " of " << count
              << " steps; checkpoints:";
    for (const fs::path &path : manager.checkpoints())
      std::cout << ' ' << path.filename().string();
    std::cout << '\n';
    printLayouts("Variables", stopped.model.variables());
  }

  // Another process, with the model cut over one axis and the batch over the
  // other one.
  const Mesh wide = create_mesh({{"batch", 2}, {"model", 4}}, virtual_cpus(8));
  auto scope = default_mesh(wide);
  Training again(wide, "model", Layout::batch_sharded(wide, "batch", 2));
  CheckpointManager manager(again.checkpoint(), checkpoints,
                            {.step_counter = again.steps});
  const auto restored = manager.restore_or_initialize();
  std::cout << "Restored " << restored->filename().string() << '\n';
  printLayouts("Variables", again.model.variables());
  std::vector<float> resumed = again.run(count, nullptr);
  const std::vector<float> expected(whole.end() - int64_t(resumed.size()),
                                    whole.end());
  const float difference = largestDifference(resumed, expected);
  std::cout << "Last loss " << std::setprecision(7) << resumed.back()
            << ", without the stop " << whole.back() << "; largest difference "
            << difference << '\n';
  if (!(difference < 1e-5f * whole.front()))
    throw Error("losses after the restart are others");

  // The function runs without its source, with the layouts that it was compiled
  // for.
  auto predict = function([&](const Tensor &x) { return again.model(x); },
                          {.name = "predict", .arguments = {"x"}});
  const Tensor x = again.laidOut(ones({rows, features}));
  export_functions(folder / "exported",
                   {{"serving_default", predict.get_concrete_function(x)}});
  ExportedFunctions exported = load_functions(folder / "exported", wide);
  printLayouts("Exported variables", exported.variables());
  const Tensor here = predict(x);
  const Tensor there = relayout_like(exported("serving_default", {x})[0], here);
  const float changed = reduce_max(abs(there - here)).item<float>();
  std::cout << "Exported function: largest difference " << changed << '\n';
  if (changed != 0)
    throw Error("the exported function gives something else");
}

} // namespace

int main(int argc, char **argv) {
  try {
    run(example::parseStrategyOptions(
        argc, argv,
        "usage: dtensor_state [options]\n"
        "    --steps N      how many are trained (40)\n"
        "    --folder DIR   where checkpoints and the exported function go "
        "(dtensor_state)\n"
        "    --small        6 steps\n"));
  } catch (const std::exception &error) {
    std::cerr << "dtensor_state: " << error.what() << '\n';
    return 1;
  }
}
