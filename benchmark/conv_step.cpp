// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Training steps of conv nets through the user API: beside those of
// peers/jax_conv.py and peers/torch_conv.py (cnn, resnet50) and
// peers/jax_bench.py (convnet), with the same inputs and losses.
//
//   conv_step --case=cnn|convnet|resnet50 --batch=64 --devices=1 --steps=50
//   [--size=224] [--channels-first] [--dataset] [--profile]
//     prints one JSON line
//
// With --dataset the batches of convnet come from the TPU guide's input: bytes
// scaled by map, shuffle(10000), repeat, batch, prefetch to the devices; two
// more lines then tell how long the step waits for a batch, and how long making
// one takes.
#include "CommandLine.h"
#include "PeerModel.h"
#include "StepCosts.h"
#include "resnet/ResNet.h"

#include "meshloom/Data/Dataset.h"
#include "meshloom/Data/Digits.h"
#include "meshloom/Meshloom.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>

using namespace meshloom;

namespace {

struct Case {
  std::string name = "cnn";
  int64_t batch = 64, devices = 1, steps = 50, size = 224;
  int64_t workers = 0; ///< 0: one a core
  bool channelsFirst = false, dataset = false, profiles = false;
};

/// Which variables a seed is counted for.
enum class Seeds : uint8_t {
  Variables, ///< as conv_models.py has them
  Kernels    ///< as jax_bench.py and torch_bench.py have them
};

/// Kernels by Glorot with seeds from 10; vectors stay as they are made, zeros
/// or ones.
void assignPeerWeights(const Module &model, Seeds seeds) {
  uint32_t seed = 10;
  for (const DVariable &variable : model.trainable_variables()) {
    const Shape shape = variable.shape();
    if (shape.size() > 1) {
      int64_t places = 1;
      for (size_t d = 0; d + 2 < shape.size(); ++d)
        places *= shape[d];
      const int64_t in = places * shape[shape.size() - 2],
                    out = places * shape.back();
      const float limit = std::sqrt(6.0f / float(in + out));
      variable.assign(distribute(
          tensor(peers::uniform(in * shape.back(), seed, -limit, limit), shape),
          variable.layout()));
    }
    if (shape.size() > 1 || seeds == Seeds::Variables)
      ++seed;
  }
}

/// Twice: convolution, batch norm, relu, pooling; then two dense layers.
struct SmallNet : Module {
  std::vector<layers::Conv2D> convolutions;
  std::vector<layers::BatchNormalization> norms;
  layers::Dense hidden, logits;
  bool channelsFirst;
  explicit SmallNet(bool channelsFirst)
      : hidden(128), logits(10), channelsFirst(channelsFirst) {
    const std::string format =
        channelsFirst ? "channels_first" : "channels_last";
    int64_t features = 3;
    for (int64_t filters : {32, 64}) {
      convolutions.emplace_back(
          filters, 3,
          layers::ConvolutionOptions{.padding = "same", .data_format = format});
      convolutions.back().build(channelsFirst ? Shape{-1, features, -1, -1}
                                              : Shape{-1, -1, -1, features});
      norms.emplace_back(layers::BatchNormalizationOptions{.epsilon = 1e-5});
      norms.back().build({-1, -1, -1, filters});
      features = filters;
    }
    hidden.build({-1, 4096});
    logits.build({-1, 128});
    // In the order of use.
    track(convolutions[0], norms[0], convolutions[1], norms[1], hidden, logits);
  }
  Tensor operator()(Tensor x) const {
    const CallOptions training{.training = true};
    for (size_t k = 0; k < 2; ++k) {
      x = convolutions[k](x);
      if (channelsFirst)
        x = transpose(
            norms[k](transpose(x, std::vector<int64_t>{0, 2, 3, 1}), training),
            std::vector<int64_t>{0, 3, 1, 2});
      else
        x = norms[k](x, training);
      x = max_pool(nn::relu(x), {2, 2}, {.channels_first = channelsFirst});
    }
    if (channelsFirst)
      x = transpose(x, std::vector<int64_t>{0, 2, 3, 1});
    x = reshape(x, {x.shape()[0], 4096});
    return logits(nn::relu(hidden(x)));
  }
};

/// The TPU guide's: convolutions of 256 without padding, three dense layers.
struct GuideNet : Module {
  layers::Conv2D first{256, 3}, second{256, 3};
  layers::Dense third{256}, fourth{128}, fifth{10};
  GuideNet() {
    first.build({-1, 28, 28, 1});
    second.build({-1, 26, 26, 256});
    third.build({-1, 24 * 24 * 256});
    fourth.build({-1, 256});
    fifth.build({-1, 128});
    track(first, second, third, fourth, fifth);
  }
  Tensor operator()(Tensor x) const {
    x = nn::relu(second(nn::relu(first(x))));
    x = nn::relu(third(reshape(x, {x.shape()[0], 24 * 24 * 256})));
    return fifth(nn::relu(fourth(x)));
  }
  Tensor penalty() const {
    Tensor sum = reduce_sum(square(first.variable("kernel")));
    for (const Layer &layer :
         {Layer(second), Layer(third), Layer(fourth), Layer(fifth)})
      sum = sum + reduce_sum(square(layer.variable("kernel")));
    return 1e-5f * sum;
  }
};

/// A step that returns the loss, and its inputs.
struct Training {
  Tensor x, y;
  std::function<Tensor(const Tensor &, const Tensor &)> step;
};

template <typename Model, typename Optimizer>
Tensor update(const Model &model, const Optimizer &optimizer,
              const std::function<Tensor()> &loss) {
  GradientTape tape;
  Tensor value = loss();
  optimizer.apply_gradients(tape.gradient(value, model.trainable_variables()));
  return value;
}

Tensor crossEntropy(const Tensor &logits, const Tensor &y) {
  return reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(
      {.labels = y, .logits = logits}));
}

Training makeTraining(const Case &options, const Mesh &mesh) {
  const bool large = options.name == "resnet50";
  const int64_t size = large                       ? options.size
                       : options.name == "convnet" ? 28
                                                   : 32,
                features = options.name == "convnet" ? 1 : 3;
  peers::Batch data =
      peers::learnableBatch(options.batch, size * size * features, 1);
  Training training;
  Tensor x = tensor(data.x, {options.batch, size, size, features});
  if (options.channelsFirst)
    x = transpose(x, std::vector<int64_t>{0, 3, 1, 2});
  training.x =
      distribute(x, Layout({"batch", UNSHARDED, UNSHARDED, UNSHARDED}, mesh));
  training.y =
      distribute(tensor(data.y, {options.batch}), Layout({"batch"}, mesh));
  if (large) {
    auto model = std::make_shared<resnet::ResNet>();
    assignPeerWeights(*model, Seeds::Variables);
    training.step = [model, sgd = optimizers::SGD(
                                {.learning_rate = 1e-2, .momentum = 0.9})](
                        const Tensor &x, const Tensor &y) {
      return update(*model, sgd,
                    [&] { return crossEntropy((*model)(x, true), y); });
    };
  } else if (options.name == "convnet") {
    auto model = std::make_shared<GuideNet>();
    assignPeerWeights(*model, Seeds::Kernels);
    training.step = [model, adam = optimizers::Adam()](const Tensor &x,
                                                       const Tensor &y) {
      return update(*model, adam, [&] {
        return crossEntropy((*model)(x), y) + model->penalty();
      });
    };
  } else {
    auto model = std::make_shared<SmallNet>(options.channelsFirst);
    assignPeerWeights(*model, Seeds::Variables);
    training.step = [model, adam = optimizers::Adam()](const Tensor &x,
                                                       const Tensor &y) {
      return update(*model, adam, [&] { return crossEntropy((*model)(x), y); });
    };
  }
  return training;
}

using Images = data::Dataset<std::pair<Tensor, Tensor>>;

/// The TPU guide's input, of digits that are drawn.
Images guideInput(int64_t batch) {
  constexpr int64_t count = 10000, side = data::Digits::side;
  data::Digits digits = data::make_digits(count, 1);
  return data::from_tensor_slices(tensor(digits.images, {count, side, side, 1}),
                                  tensor(digits.labels, {count}))
      .repeat(6) // as many as the guide's
      .map(
          [](const Tensor &image, const Tensor &label) {
            return std::pair{cast(image, DType::F32) / 255,
                             cast(label, DType::I32)};
          },
          {.num_parallel_calls = 2})
      .shuffle(10000)
      .repeat()
      .batch(batch);
}

double milliseconds(const std::function<void()> &action) {
  auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - begin)
      .count();
}
double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

int run(const Case &options) {
  Mesh mesh =
      create_mesh({{"batch", options.devices}}, virtual_cpus(options.devices));
  auto scope = default_mesh(mesh);
  Training training = makeTraining(options, mesh);
  auto step = function(training.step, {.name = "step"});
  ConcreteFunction compiled =
      step.get_concrete_function(training.x, training.y);
  std::vector<double> times, losses;
  std::optional<data::Iterator<std::pair<Tensor, Tensor>>> input;
  std::vector<double> waits, makes;
  if (options.dataset) {
    Images batches = guideInput(options.batch);
    auto alone = batches.iterate();
    alone.next(); // fills the shuffle's buffer
    for (int i = 0; i < 20; ++i)
      makes.push_back(milliseconds([&] { alone.next(); }));
    input = batches.prefetch(2, {training.x.layout(), training.y.layout()})
                .iterate();
    input->next();
  }
  const std::clock_t before = std::clock(); // of all threads
  for (int64_t i = 0; i < options.steps; ++i) {
    if (input)
      waits.push_back(milliseconds(
          [&] { std::tie(training.x, training.y) = input->get_next(); }));
    auto begin = std::chrono::steady_clock::now();
    losses.push_back(double(step(training.x, training.y).item<float>()));
    times.push_back(std::chrono::duration<double, std::milli>(
                        std::chrono::steady_clock::now() - begin)
                        .count());
  }
  const double processor = double(std::clock() - before) * 1e3 /
                           double(CLOCKS_PER_SEC) / double(options.steps);
  if (options.profiles) {
    auto recorded = profile();
    step(training.x, training.y);
    peers::printCosts(recorded.steps());
  }
  std::vector<double> sorted(times.begin() + options.steps / 10, times.end());
  std::sort(sorted.begin(), sorted.end());
  std::printf("{\"peer\": \"meshloom\", \"case\": \"%s\", \"devices\": %lld, "
              "\"batch\": %lld, \"mode\": \"%s\", \"step_ms_best\": %.3f, "
              "\"step_ms_median\": %.3f, \"step_cpu_ms\": %.3f, "
              "\"trace_ms\": %.1f, "
              "\"compile_ms\": %.1f, \"peak_bytes\": %lld, \"loss_1\": %.7f, "
              "\"loss_10\": %.7f}\n",
              options.name.c_str(), static_cast<long long>(options.devices),
              static_cast<long long>(options.batch),
              options.channelsFirst ? "nchw" : "nhwc", sorted.front(),
              sorted[sorted.size() / 2], processor, compiled.trace_time() * 1e3,
              compiled.compile_time() * 1e3,
              static_cast<long long>(compiled.statistics().peak_bytes),
              losses[0], losses.size() > 9 ? losses[9] : 0.0);
  if (input)
    for (auto &[name, spans] : {std::pair{"wait", waits}, {"make", makes}})
      std::printf("{\"peer\": \"meshloom\", \"case\": \"convnet %s\", "
                  "\"step_ms_best\": %.3f, \"step_ms_median\": %.3f}\n",
                  name, *std::min_element(spans.begin(), spans.end()),
                  median(spans));
  return 0;
}

} // namespace

int main(int argc, char **argv) try {
  Case options;
  peers::CommandLine line(argc, argv);
  line.read("--case", options.name);
  line.read("--channels-first", options.channelsFirst);
  line.read("--dataset", options.dataset);
  line.read("--profile", options.profiles);
  line.read("--batch", options.batch);
  line.read("--devices", options.devices);
  line.read("--steps", options.steps);
  line.read("--size", options.size);
  line.read("--workers", options.workers);
  line.end();
  set_client_options({.workers = options.workers});
  if (options.name != "cnn" && options.name != "convnet" &&
      options.name != "resnet50") {
    std::fprintf(stderr, "conv_step: --case is cnn, convnet or resnet50\n");
    return 1;
  }
  if (options.dataset && options.name != "convnet") {
    std::fprintf(stderr, "conv_step: --dataset is for --case=convnet\n");
    return 1;
  }
  return run(options);
} catch (const Error &error) {
  std::fprintf(stderr, "conv_step: %s\n", error.what());
  return 1;
}
