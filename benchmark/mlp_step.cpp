// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tutorial's training step (784-700 relu, 700-10 relu, 10-10, sparse
// softmax cross entropy, Adam) through the user API, and the overhead of small
// calls.
//
//   mlp_step --json --batch=128 --devices=8 --steps=200
//   [--platform=pjrt:PLUGIN.so] [--workers=16]
//     prints one JSON line for scripts/compare; else Google Benchmark runs:
//   mlp_step --benchmark_filter=Step
#include "CommandLine.h"
#include "PeerModel.h"

#include "meshloom/Meshloom.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace meshloom;
using peers::Dense;

namespace {

struct MLP : Module {
  Dense first, second, third;
  explicit MLP(const Layout &layout)
      : first(784, 700, 10, layout), second(700, 10, 11, layout),
        third(10, 10, 12, layout) {
    track(first, second, third);
  }
  Tensor operator()(const Tensor &x) const {
    return third(nn::relu(second(nn::relu(first(x)))));
  }
};

/// Devices of a platform of the runtime; virtual CPUs where it has no name.
std::vector<DeviceSpec> devicesOf(const std::string &platform, int64_t count) {
  if (platform.empty())
    return virtual_cpus(count);
  std::vector<DeviceSpec> devices;
  const std::string type = connect_platform(platform).front().type;
  for (int64_t i = 0; i < count; ++i)
    devices.push_back({type, i});
  return devices;
}

/// Everything that a step needs.
struct Training {
  Mesh mesh;
  MLP model;
  optimizers::Adam adam;
  Tensor x, y;

  Training(int64_t batch, int64_t devices, const std::string &platform = "")
      : mesh(create_mesh({{"batch", devices}}, devicesOf(platform, devices))),
        model(Layout::replicated(mesh, 2)) {
    peers::Batch data = peers::learnableBatch(batch, 784, 1);
    x = distribute(tensor(data.x, {batch, 784}),
                   Layout({"batch", UNSHARDED}, mesh));
    y = distribute(tensor(data.y, {batch}), Layout({"batch"}, mesh));
  }

  Tensor step(const Tensor &x, const Tensor &y) const {
    GradientTape tape;
    Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(
        {.labels = y, .logits = model(x)}));
    adam.apply_gradients(tape.gradient(loss, model.trainable_variables()));
    return loss;
  }
};

double milliseconds(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - begin)
      .count();
}

int runJson(int64_t batch, int64_t devices, int64_t steps,
            const std::string &platform) {
  Training training(batch, devices, platform);
  auto step = function(
      [&](const Tensor &x, const Tensor &y) { return training.step(x, y); },
      {.name = "step"});
  ConcreteFunction compiled =
      step.get_concrete_function(training.x, training.y);
  std::vector<double> times, losses;
  for (int64_t i = 0; i < steps; ++i) {
    auto begin = std::chrono::steady_clock::now();
    float loss = step(training.x, training.y).item<float>();
    times.push_back(milliseconds(begin));
    losses.push_back(loss);
  }
  std::vector<double> sorted(times.begin() + steps / 10, times.end());
  std::sort(sorted.begin(), sorted.end());
  int64_t sent = 0;
  for (const CollectiveInfo &info : compiled.collectives())
    sent += info.bytes_sent;
  std::printf(
      "{\"peer\": \"meshloom\", \"case\": \"mlp\", \"devices\": %ld, "
      "\"batch\": %ld, \"step_ms_best\": %.3f, \"step_ms_median\": %.3f, "
      "\"trace_ms\": %.1f, \"compile_ms\": %.1f, \"bytes_sent\": %ld, "
      "\"loss_1\": %.7f, \"loss_10\": %.7f}\n",
      devices, batch, sorted.front(), sorted[sorted.size() / 2],
      compiled.trace_time() * 1e3, compiled.compile_time() * 1e3, sent,
      losses[0], losses.size() > 9 ? losses[9] : 0.0);
  return 0;
}

void BM_TrainingStep(benchmark::State &state) {
  Training training(state.range(0), state.range(1));
  auto step = function(
      [&](const Tensor &x, const Tensor &y) { return training.step(x, y); });
  for (auto _ : state)
    benchmark::DoNotOptimize(step(training.x, training.y).item<float>());
}
BENCHMARK(BM_TrainingStep)
    ->ArgNames({"batch", "devices"})
    ->ArgsProduct({{128, 1024}, {1, 8, 64}})
    ->Unit(benchmark::kMillisecond);

/// Adding two f32[devices]: what a call costs. In a function, and at once.
void BM_TinyFunction(benchmark::State &state) {
  int64_t devices = state.range(0);
  Mesh mesh = create_mesh({{"batch", devices}}, virtual_cpus(devices));
  Tensor a = distribute(ones({devices}), Layout({"batch"}, mesh));
  auto add = function([](const Tensor &x, const Tensor &y) { return x + y; });
  add(a, a);
  for (auto _ : state)
    benchmark::DoNotOptimize(add(a, a));
}
BENCHMARK(BM_TinyFunction)->ArgName("devices")->Arg(1)->Arg(8);

void BM_TinyOp(benchmark::State &state) {
  int64_t devices = state.range(0);
  Mesh mesh = create_mesh({{"batch", devices}}, virtual_cpus(devices));
  Tensor a = distribute(ones({devices}), Layout({"batch"}, mesh));
  benchmark::DoNotOptimize(a + a);
  for (auto _ : state)
    benchmark::DoNotOptimize(a + a);
}
BENCHMARK(BM_TinyOp)->ArgName("devices")->Arg(1)->Arg(8);

/// Trace and compile of the step; kernels are in the process's cache after the
/// first time.
void BM_TraceAndCompile(benchmark::State &state) {
  Training training(128, 8);
  for (auto _ : state) {
    auto step = function(
        [&](const Tensor &x, const Tensor &y) { return training.step(x, y); });
    benchmark::DoNotOptimize(
        step.get_concrete_function(training.x, training.y));
  }
}
BENCHMARK(BM_TraceAndCompile)->Unit(benchmark::kMillisecond)->Iterations(3);

} // namespace

int main(int argc, char **argv) try {
  int64_t batch = 128, devices = 8, steps = 200;
  int64_t workers = 0; // one a core
  bool json = false;
  std::string platform;
  peers::CommandLine line(argc, argv);
  line.read("--json", json);
  line.read("--batch", batch);
  line.read("--devices", devices);
  line.read("--steps", steps);
  line.read("--platform", platform);
  line.read("--workers", workers);
  if (json) {
    line.end();
    set_client_options({.workers = workers});
    return runJson(batch, devices, steps, platform);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 1;
  benchmark::RunSpecifiedBenchmarks();
} catch (const Error &error) {
  std::fprintf(stderr, "mlp_step: %s\n", error.what());
  return 1;
}
