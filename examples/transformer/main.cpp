// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains a decoder-only transformer to predict the next byte of a text, then
// writes with a cache of keys and values. Under a strategy it is data parallel;
// --megatron adds Megatron's layouts, --fsdp cuts every weight over the batch's
// axis.
#include "../options/StrategyOptions.h"
#include "Decoder.h"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

using namespace meshloom;

namespace {

/// Returns the tokens of a file, or of sums in words, which can be learned.
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
      "    --epochs N    of training (4)\n"
      "    --examples N  sequences in an epoch (397)\n"
      "    --batch N     sequences a step, of all replicas together (8)\n"
      "    --generate N  bytes to write (60)\n"
      "    --megatron N  with --strategy=dtensor: devices of the axis "
      "\"model\"\n"
      "                  beside the --replicas of \"batch\" (1)\n"
      "    --fsdp        with --strategy=dtensor: weights are cut over "
      "\"batch\"\n"
      "    --small       with 2 blocks of width 16, 2 epochs of 77 sequences,\n"
      "                  20 bytes\n");
  const bool isSmall = options.has("--small");
  const int64_t epochs = options.number("--epochs", isSmall ? 2 : 4);
  const int64_t examples = options.number("--examples", isSmall ? 77 : 397);
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
    example::cutBlocks(model, *mesh);
  if (mesh && options.has("--fsdp"))
    set_layouts(model, [&](const std::string &, const DVariable &weight) {
      return weight.rank() ? std::optional(Layout::batch_sharded(
                                 *mesh, "batch", unsigned(weight.rank())))
                           : std::nullopt;
    });
  std::cout << summary(model);

  model.compile(
      {.optimizer = optimizers::AdamW(3e-3),
       .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
  std::vector<int32_t> inputs, targets;
  for (int64_t i = 0; i < examples; ++i) {
    const auto from = text.begin() + ptrdiff_t(size_t(i * 37) %
                                               (text.size() - size_t(length)));
    inputs.insert(inputs.end(), from, from + length);
    targets.insert(targets.end(), from + 1, from + length + 1);
  }
  const auto dataset =
      data::from_tensor_slices(tensor(inputs, {examples, length}),
                               tensor(targets, {examples, length}))
          .batch(batch);
  const History history = model.fit(dataset, {.epochs = epochs, .verbose = 0});
  for (size_t epoch = 0; epoch < history.epoch.size(); ++epoch)
    std::printf("epoch %zu: loss %#.7g\n", epoch + 1, history["loss"][epoch]);

  const std::vector<example::Cache> caches = model->makeCaches(1);
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
