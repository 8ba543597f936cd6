// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Training steps of the examples' models, and decoding with a cache, with the
// inputs and weights that benchmark/peers/models_jax.py and models_torch.py
// make, so that losses agree. One JSON line for scripts/compare:
//
//   model_step --model=gpt2 --size=small --mesh=batch=1 --steps=10 --json
//   model_step --model=decode --size=small --batch=8
//   model_step --model=gpt2 --size=small --profile    # the costliest steps too
//
// Models: gpt2, vit, lstm, decode. Losses of decode are the sum over the batch
// of the largest logit after 1 and 10 tokens.
#include "CommandLine.h"
#include "PeerInputs.h"
#include "StepCosts.h"

#include "../examples/gpt2/Model.h"
#include "../examples/lstm/Model.h"
#include "../examples/vit/Model.h"

#include "../examples/options/Options.h"

#include <meshloom/Meshloom.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>

using namespace meshloom;

namespace {

struct Arguments {
  std::string model = "gpt2", size = "tiny", mesh = "batch=1";
  int64_t batch = 0, length = 0, layers = 0;
  int64_t steps = 10;  ///< 2 at least
  int64_t workers = 0; ///< 0: one a core
  bool explain = false, profiles = false;
};

/// Tensor k of the published file, in the order of the model's weights, is
/// uniform by seed 100 + k, as the peers make it; vectors but the biases of
/// queries, keys and values stay as the model makes them.
void fillWeights(const Layer &model, const WeightMap &published) {
  data::NamedTensors tensors = published.tensors(model);
  uint32_t seed = 100;
  for (const std::string &name : published.names(model)) {
    Tensor &value = tensors.at(name);
    if (value.rank() >= 2 || name.ends_with("attn.c_attn.bias") ||
        name.ends_with("attn.qkv.bias"))
      value = tensor(peers::uniform(value.size(), seed, -0.04f, 0.04f),
                     value.shape());
    ++seed;
  }
  published.assign(model, tensors);
}

std::vector<int32_t> tokens(int64_t count, int64_t vocabulary) {
  std::vector<int32_t> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = int32_t(peers::hash(uint32_t(i), 1) %
                        static_cast<uint32_t>(vocabulary));
  return values;
}

/// One call is one step, which gives its loss; with what the compiler took.
struct Program {
  std::function<float()> step;
  std::function<ConcreteFunction()> compile;
};

template <typename Model, typename Loss, typename... Inputs>
Program trainer(const Model &model, Loss loss, Inputs... inputs) {
  auto step = function([=, adam = optimizers::Adam(1e-4)](const Inputs &...x) {
    GradientTape tape;
    Tensor value = loss(x...);
    adam.apply_gradients(tape.gradient(value, model.trainable_variables()));
    return value;
  });
  return {[=] { return step(inputs...).template item<float>(); },
          [=] { return step.get_concrete_function(inputs...); }};
}

gpt2::Sizes gpt2Sizes(const Arguments &arguments) {
  gpt2::Sizes sizes = gpt2::Sizes::named(arguments.size);
  if (arguments.layers)
    sizes.layers = arguments.layers;
  return sizes;
}

/// Tokens of a sequence.
int64_t gpt2Length(const Arguments &arguments) {
  if (arguments.length)
    return arguments.length;
  return arguments.size == "tiny" ? 32 : 256;
}

Program gpt2Program(const Arguments &arguments, const Mesh &mesh) {
  const gpt2::Sizes sizes = gpt2Sizes(arguments);
  const int64_t batch = arguments.batch ? arguments.batch : 4,
                length = gpt2Length(arguments);
  Tensor x =
      distribute(tensor(tokens(batch * (length + 1), sizes.vocabulary),
                        {batch, length + 1}),
                 Layout({example::axisOrNone(mesh, "batch"), UNSHARDED}, mesh));
  const gpt2::GPT2 model = gpt2::makeModel(sizes, mesh);
  fillWeights(model, gpt2::publishedWeights());
  return trainer(
      model, [=](const Tensor &ids) { return gpt2::loss(model, ids); }, x);
}

Program vitProgram(const Arguments &arguments, const Mesh &mesh) {
  vit::Sizes sizes = vit::Sizes::named(arguments.size);
  if (arguments.layers)
    sizes.layers = arguments.layers;
  const int64_t batch = arguments.batch ? arguments.batch : 16;
  const DimSpec rows = example::axisOrNone(mesh, "batch");
  Shape shape{batch, sizes.image, sizes.image, sizes.channels};
  Tensor x =
      distribute(tensor(peers::uniform(elementCount(shape), 1, 0, 1), shape),
                 Layout({rows, UNSHARDED, UNSHARDED, UNSHARDED}, mesh));
  Tensor y = distribute(tensor(peers::labels(batch, 2), {batch}),
                        Layout({rows}, mesh));
  const vit::ViT model = vit::makeModel(sizes, mesh);
  fillWeights(model, vit::publishedWeights());
  return trainer(
      model,
      [=](const Tensor &images, const Tensor &labels) {
        return reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(
            {.labels = labels, .logits = model(images)}));
      },
      x, y);
}

Program lstmProgram(const Arguments &arguments, const Mesh &mesh) {
  lstm::Sizes sizes =
      lstm::Sizes::named(arguments.size == "small" ? "medium" : arguments.size);
  const int64_t batch = arguments.batch ? arguments.batch : 20,
                length = arguments.length ? arguments.length : 35;
  // The peers have words [length + 1, batch].
  Tensor words = transpose(tensor(
      tokens(batch * (length + 1), sizes.vocabulary), {length + 1, batch}));
  Tensor x = distribute(
      words, Layout({example::axisOrNone(mesh, "batch"), UNSHARDED}, mesh));
  const lstm::WordModel model = lstm::makeModel(sizes, mesh);
  fillWeights(model, lstm::publishedWeights());
  return trainer(
      model, [=](const Tensor &ids) { return lstm::loss(model, ids); }, x);
}

/// Tokens from the middle of a cache of `length` on; each is the likeliest
/// after the one before it.
Program decodeProgram(const Arguments &arguments, const Mesh &mesh) {
  const gpt2::Sizes sizes = gpt2Sizes(arguments);
  const int64_t batch = arguments.batch ? arguments.batch : 1,
                length = gpt2Length(arguments);
  const gpt2::GPT2 model = gpt2::makeModel(sizes, mesh);
  fillWeights(model, gpt2::publishedWeights());
  const std::vector<example::Cache> caches =
      model->makeCaches(batch, length, mesh);
  auto decode = function([=](const Tensor &token, const Tensor &position) {
    Tensor logits = model->next(token, position, caches);
    return std::pair{argmax(logits, -1, DType::I32),
                     reduce_sum(reduce_max(logits, -1))};
  });
  auto token = std::make_shared<Tensor>(
      distribute(tensor(tokens(batch, sizes.vocabulary), {batch}),
                 Layout({example::axisOrNone(mesh, "batch")}, mesh)));
  auto position = std::make_shared<int32_t>(int32_t(length / 2));
  return {
      [=] {
        auto [next, best] = decode(*token, tensor(*position));
        *token = next;
        if (++*position == length)
          *position = int32_t(length / 2);
        return best.item<float>();
      },
      [=] { return decode.get_concrete_function(*token, tensor(*position)); }};
}

int run(const Arguments &arguments) {
  std::string axes = "--mesh=" + arguments.mesh;
  char *mesh[] = {axes.data(), axes.data()};
  example::Options options = example::parseOptions(2, mesh, "");
  const std::map<std::string, Program (*)(const Arguments &, const Mesh &)>
      known{{"gpt2", gpt2Program},
            {"vit", vitProgram},
            {"lstm", lstmProgram},
            {"decode", decodeProgram}};
  auto found = known.find(arguments.model);
  if (found == known.end())
    throw Error("--model: expected gpt2, vit, lstm or decode, got \"" +
                arguments.model + "\"");
  Program program = found->second(arguments, options.makeMesh());
  ConcreteFunction compiled = program.compile();
  if (arguments.explain)
    std::puts(compiled.stages().back().ir.c_str());
  std::vector<double> times, processor, losses;
  for (int64_t i = 0; i < std::max<int64_t>(arguments.steps, 2); ++i) {
    const double begin = example::now();
    const std::clock_t used = std::clock();
    losses.push_back(program.step());
    times.push_back(example::now() - begin);
    processor.push_back(double(std::clock() - used) * 1e3 / CLOCKS_PER_SEC);
  }
  if (arguments.profiles) {
    auto recorded = profile();
    program.step();
    peers::printCosts(recorded.steps());
  }
  // The first one warms up.
  std::sort(times.begin() + 1, times.end());
  std::sort(processor.begin() + 1, processor.end());
  std::printf("{\"peer\": \"meshloom\", \"case\": \"%s\", \"size\": \"%s\", "
              "\"mesh\": \"%s\", \"batch\": %ld, \"step_ms_best\": %.3f, "
              "\"step_ms_median\": %.3f, \"cpu_ms_median\": %.3f, "
              "\"trace_ms\": %.1f, \"compile_ms\": %.1f, "
              "\"peak_bytes\": %ld, \"loss_1\": %.7f, \"loss_10\": %.7f}\n",
              arguments.model.c_str(), arguments.size.c_str(),
              arguments.mesh.c_str(), arguments.batch, times[1],
              times[times.size() / 2], processor[times.size() / 2],
              compiled.trace_time() * 1e3, compiled.compile_time() * 1e3,
              compiled.statistics().peak_bytes, losses[0],
              losses.size() > 9 ? losses[9] : 0.0);
  return 0;
}

} // namespace

int main(int argc, char **argv) try {
  Arguments arguments;
  bool json =
      false; // as the other benchmarks have it: here it is the only form
  peers::CommandLine line(argc, argv);
  line.read("--model", arguments.model);
  line.read("--size", arguments.size);
  line.read("--mesh", arguments.mesh);
  line.read("--batch", arguments.batch);
  line.read("--length", arguments.length);
  line.read("--layers", arguments.layers);
  line.read("--steps", arguments.steps);
  line.read("--workers", arguments.workers);
  line.read("--ir", arguments.explain);
  line.read("--profile", arguments.profiles);
  line.read("--json", json);
  line.end();
  set_client_options({.workers = arguments.workers});
  return run(arguments);
} catch (const std::exception &error) {
  std::fprintf(stderr, "model_step: %s\n", error.what());
  return 1;
}
