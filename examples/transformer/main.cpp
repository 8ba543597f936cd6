// Trains a decoder-only transformer to predict the next byte of a text, then
// writes with a cache of keys and values. Under a strategy it is data parallel;
// --mesh adds Megatron's layouts, --fsdp cuts every weight over the batch's
// axis.
#include "../options/StrategyOptions.h"
#include "Decoder.h"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

using namespace meshloom;

namespace {

/// Of a file, or sums in words, which can be learned.
std::vector<int32_t> readTokens(const std::string &file) {
  std::string text;
  if (!file.empty()) {
    std::ifstream in(file, std::ios::binary);
    if (!in)
      throw Error("--text: cannot read " + file);
    text.assign(std::istreambuf_iterator<char>(in), {});
  } else {
    const char *names[] = {"zero", "one", "two",   "three", "four",
                           "five", "six", "seven", "eight", "nine"};
    for (int i = 0; i < 400; ++i) {
      const int a = i % 5, b = (i / 5) % 5;
      text += std::string(names[a]) + " and " + names[b] + " is " +
              names[a + b] + ". ";
    }
  }
  std::vector<int32_t> tokens;
  for (char letter : text)
    tokens.push_back(static_cast<unsigned char>(letter));
  return tokens;
}

int run(int argc, char **argv) {
  const auto options = example::parseStrategyOptions(
      argc, argv,
      "usage: transformer [options]\n"
      "Trains a small transformer on the bytes of a text, then writes.\n"
      "    --text FILE   what it learns (sums in words)\n"
      "    --steps N     of training (200)\n"
      "    --batch N     sequences a step, of all replicas together (8)\n"
      "    --generate N  bytes to write (60)\n"
      "    --megatron N  with --strategy=dtensor: devices of the axis "
      "\"model\"\n"
      "                  beside the --replicas of \"batch\" (1)\n"
      "    --fsdp        with --strategy=dtensor: weights are cut over "
      "\"batch\"\n"
      "    --small       with 2 blocks of width 16, 20 steps, 20 bytes\n");
  const bool isSmall = options.has("--small");
  const int64_t steps = options.number("--steps", isSmall ? 20 : 200);
  const int64_t batch = options.number("--batch", 8);
  const int64_t count = options.number("--generate", isSmall ? 20 : 60);
  const int64_t parts = options.number("--megatron", 1);
  const transformer::Sizes sizes = isSmall
                                       ? transformer::Sizes{256, 32, 16, 4, 2}
                                       : transformer::Sizes{256, 64, 64, 4, 3};
  const std::vector<int32_t> text = readTokens(options.text("--text", ""));
  const int64_t length = sizes.positions;
  if (int64_t(text.size()) <= length || count > length)
    throw Error("expected a text of more than " + std::to_string(length) +
                " bytes, and at most as many to write");

  const Strategy strategy = options.makeStrategy();
  auto scope = options.scope(strategy);
  std::optional<Mesh> mesh;
  std::optional<DefaultMeshScope> meshScope;
  if (options.isDTensor()) {
    mesh = create_mesh({{"batch", options.replicas}, {"model", parts}},
                       virtual_cpus(options.replicas * parts));
    meshScope.emplace(*mesh);
  }

  set_random_seed(1);
  transformer::Decoder model(sizes, 0.1);
  model.build_many({{{-1, length}, DType::I32}});
  if (mesh)
    set_layouts(model, transformer::megatron(*mesh));
  if (mesh && options.has("--fsdp"))
    set_layouts(model, [&](const std::string &, const DVariable &weight) {
      return weight.rank() ? std::optional(Layout::batch_sharded(
                                 *mesh, "batch", unsigned(weight.rank())))
                           : std::nullopt;
    });
  std::cout << summary(model);

  optimizers::AdamW adam(3e-3);
  auto step = function([&](const Tensor &tokens) {
    GradientTape tape;
    Tensor logits = model(tokens(all, range(0, -1)), {.training = true});
    Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(
        {.labels = tokens(all, range(1, {})), .logits = logits}));
    adam.apply_gradients(tape.gradient(loss, model.trainable_variables()));
    return loss;
  });
  for (int64_t i = 0; i < steps; ++i) {
    std::vector<int32_t> tokens;
    for (int64_t b = 0; b < batch; ++b) {
      const auto from =
          size_t((i * batch + b) * 37) % (text.size() - size_t(length));
      tokens.insert(tokens.end(), text.begin() + ptrdiff_t(from),
                    text.begin() + ptrdiff_t(from) + length + 1);
    }
    Tensor sequences = tensor(tokens, {batch, length + 1});
    if (mesh)
      sequences = relayout(sequences, Layout::batch_sharded(*mesh, "batch", 2));
    else
      sequences = strategy.place_batch(sequences);
    const float loss = step(sequences).item<float>();
    if ((i + 1) % (steps / 10 + 1) == 0 || i == 0 || i + 1 == steps)
      std::printf("step %lld: loss %.6f\n", static_cast<long long>(i + 1),
                  double(loss));
  }

  const std::vector<transformer::Cache> caches = model->makeCaches(1);
  auto next = function([&](const Tensor &token, const Tensor &position) {
    return argmax(model->next(token, caches, position), -1, DType::I32);
  });
  std::string written;
  int32_t token = text[0];
  for (int64_t i = 0; i < count; ++i) {
    written += char(token);
    const int32_t guess =
        next(tensor({token}), tensor(int32_t(i))).to_vector<int32_t>()[0];
    token = i + 1 < 4 ? text[size_t(i) + 1] : guess; // it is begun for it
  }
  std::printf("wrote: %s\n", written.c_str());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const Error &error) {
    std::cerr << "transformer: " << error.what() << "\n";
    return 1;
  }
}
