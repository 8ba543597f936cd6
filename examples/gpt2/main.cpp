// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains GPT-2 on a text and lets it go on writing, token by token with a
// cache.
#include "../options/Options.h"
#include "Model.h"

#include <fstream>
#include <iostream>
#include <iterator>

using namespace meshloom;

namespace {

const char *const Usage =
    R"(Trains GPT-2 to predict the next token, then decodes.

  gpt2 [options]
    --size NAME         small (124M parameters) or tiny (bytes as tokens)
    --data FILE         .npy of token ids [n], or, for tiny, any text;
                        default: numbers counted in words
    --length N          tokens a sequence (256, tiny: 32)
    --generate N        tokens to write after training (0)
)";

/// Ids of tokens: of a .npy file, or the bytes of a text.
std::vector<int32_t> readTokens(const std::string &path) {
  if (path.ends_with(".npy"))
    return cast(load_npy(path), DType::I32).to_vector<int32_t>();
  std::string text;
  if (path.empty()) {
    const char *const digits[] = {"zero", "one", "two",   "three", "four",
                                  "five", "six", "seven", "eight", "nine"};
    for (int i = 0; i < 1000; ++i)
      text += std::string(digits[i / 10 % 10]) + " " + digits[i % 10] + ", ";
  } else {
    std::ifstream file(path, std::ios::binary);
    if (!file)
      throw Error("--data: cannot read \"" + path + "\"");
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  return {reinterpret_cast<const uint8_t *>(text.data()),
          reinterpret_cast<const uint8_t *>(text.data()) + text.size()};
}

/// Sequences of batch x (length + 1) tokens that lie apart in the text, others
/// at each step.
class Batches {
public:
  Batches(std::vector<int32_t> tokens, int64_t batch, int64_t length)
      : tokens(std::move(tokens)), batch(batch), length(length) {
    if (int64_t(this->tokens.size()) < length + 2)
      throw Error("--data: expected more than " + std::to_string(length + 1) +
                  " tokens, got " + std::to_string(this->tokens.size()));
  }
  Tensor next() {
    std::vector<int32_t> ids;
    ids.reserve(size_t(batch * (length + 1)));
    const int64_t starts = int64_t(tokens.size()) - length - 1;
    for (int64_t b = 0; b < batch; ++b, ++drawn) {
      const int64_t start = drawn * 7919 % starts;
      ids.insert(ids.end(), tokens.begin() + start,
                 tokens.begin() + start + length + 1);
    }
    return tensor(ids, {batch, length + 1});
  }
  int32_t first() const { return tokens.front(); }

private:
  std::vector<int32_t> tokens;
  int64_t batch, length, drawn = 0;
};

void run(const example::Options &options) {
  const gpt2::Sizes sizes = gpt2::Sizes::named(options.size);
  const bool isTiny = options.size == "tiny";
  const int64_t batch = options.batch ? options.batch : 4,
                length = options.length ? options.length
                         : isTiny       ? 32
                                        : 256;
  if (std::max(length, options.generate) > sizes.positions)
    throw Error("--length, --generate: this model has " +
                std::to_string(sizes.positions) + " positions");
  const Mesh mesh = options.makeMesh();
  const gpt2::GPT2 model = gpt2::makeModel(sizes, mesh);
  if (!options.weights.empty())
    load_weights(model, options.weights, gpt2::publishedWeights());
  const optimizers::Adam adam(options.rate);
  const Layout sequences({example::axisOrNone(mesh, "batch"), UNSHARDED}, mesh);
  Batches batches(readTokens(options.data), batch, length);

  auto step = function(
      [&](const Tensor &tokens) {
        GradientTape tape;
        Tensor loss = gpt2::loss(model, tokens);
        adam.apply_gradients(tape.gradient(loss, model.trainable_variables()));
        return loss;
      },
      {.name = "train_step", .arguments = {"tokens"}});
  example::train(options.steps, [&] {
    return step(distribute(batches.next(), sequences)).item<float>();
  });
  if (!options.save.empty())
    save_weights(model, options.save, gpt2::publishedWeights());
  if (!options.generate)
    return;

  // The likeliest token each time. The caches are variables, which the function
  // updates in place.
  const std::vector<example::Cache> caches =
      model->makeCaches(1, options.generate, mesh);
  auto decode = function([&](const Tensor &token, const Tensor &position) {
    return argmax(model->next(token, position, caches), -1, DType::I32);
  });
  Tensor token =
      distribute(tensor({batches.first()}, {1}), Layout::replicated(mesh, 1));
  for (int64_t i = 0; i < options.generate; ++i) {
    const auto id = token.to_vector<int32_t>().front();
    if (isTiny)
      std::cout << char(id);
    else
      std::cout << id << ' ';
    token = decode(token, tensor(int32_t(i)));
  }
  std::cout << std::endl;
}

} // namespace

int main(int argc, char **argv) {
  try {
    run(example::parseOptions(argc, argv, Usage));
  } catch (const std::exception &error) {
    std::cerr << "gpt2: " << error.what() << '\n';
    return 1;
  }
}
