// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains an LSTM on the words of a text.
#include "../options/Options.h"
#include "Model.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

using namespace meshloom;

namespace {

const char *const Usage =
    R"(Trains an LSTM to predict the next word of a text.

  lstm [options]
    --size NAME         medium (2 layers of 650, 10,000 words) or tiny
    --data FILE         any text; its most frequent words have numbers of their
                        own; default: numbers counted in words
    --length N          words a sequence (35)
)";

std::string textOf(const std::string &path) {
  if (path.empty()) {
    const char *const digits[] = {"zero", "one", "two",   "three", "four",
                                  "five", "six", "seven", "eight", "nine"};
    std::string text;
    for (int i = 0; i < 1000; ++i)
      text += std::string(digits[i / 10 % 10]) + " " + digits[i % 10] + " , ";
    return text;
  }
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error("--data: cannot read \"" + path + "\"");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Words as numbers, the most frequent one 1; those that the vocabulary has no
/// room for are 0.
std::vector<int32_t> numbersOf(const std::string &text, int64_t vocabulary) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;)
    words.push_back(word);
  std::map<std::string, int64_t> counts;
  for (const std::string &word : words)
    ++counts[word];
  std::vector<std::pair<int64_t, std::string>> order;
  order.reserve(counts.size());
  for (const auto &[word, count] : counts)
    order.emplace_back(-count, word);
  std::sort(order.begin(), order.end());
  std::map<std::string, int32_t> numbers;
  for (size_t i = 0; i < order.size() && int64_t(i) + 1 < vocabulary; ++i)
    numbers[order[i].second] = int32_t(i) + 1;
  std::vector<int32_t> result;
  result.reserve(words.size());
  for (const std::string &word : words)
    result.push_back(numbers.contains(word) ? numbers[word] : 0);
  return result;
}

void run(const example::Options &options) {
  const lstm::Sizes sizes = lstm::Sizes::named(options.size);
  const int64_t batch = options.batch ? options.batch : 20,
                length = options.length ? options.length : 35;
  const Mesh mesh = options.makeMesh();
  const lstm::WordModel model = lstm::makeModel(sizes, mesh);
  if (!options.weights.empty())
    load_weights(model, options.weights, lstm::publishedWeights());
  // The text in `batch` rows, of which each step reads the next columns.
  const std::vector<int32_t> words =
      numbersOf(textOf(options.data), sizes.vocabulary);
  const int64_t columns = int64_t(words.size()) / batch;
  if (columns < length + 1)
    throw Error("--data: expected at least " +
                std::to_string(batch * (length + 1)) + " words, got " +
                std::to_string(words.size()));
  int64_t begin = 0;
  auto next = [&] {
    std::vector<int32_t> ids;
    ids.reserve(size_t(batch * (length + 1)));
    for (int64_t row = 0; row < batch; ++row) {
      const auto from = words.begin() + ptrdiff_t(row * columns + begin);
      ids.insert(ids.end(), from, from + length + 1);
    }
    begin = begin + 2 * length + 1 > columns ? 0 : begin + length;
    return tensor(ids, {batch, length + 1});
  };
  const optimizers::Adam adam(options.rate);
  const Layout sequences({example::axisOrNone(mesh, "batch"), UNSHARDED}, mesh);

  auto step = function(
      [&](const Tensor &ids) {
        GradientTape tape;
        Tensor loss = lstm::loss(model, ids);
        adam.apply_gradients(tape.gradient(loss, model.trainable_variables()));
        return loss;
      },
      {.name = "train_step", .arguments = {"words"}});
  example::train(options.steps, [&] {
    return step(distribute(next(), sequences)).item<float>();
  });
  if (!options.save.empty())
    save_weights(model, options.save, lstm::publishedWeights());
}

} // namespace

int main(int argc, char **argv) {
  try {
    run(example::parseOptions(argc, argv, Usage));
  } catch (const std::exception &error) {
    std::cerr << "lstm: " << error.what() << '\n';
    return 1;
  }
}
