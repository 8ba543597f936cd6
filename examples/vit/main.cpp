// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains a vision transformer to tell digits, or images of a file, apart.
#include "../options/Options.h"
#include "Model.h"

#include <iostream>
#include <meshloom/Data/Digits.h>

using namespace meshloom;

namespace {

const char *const Usage = R"(Trains a vision transformer.

  vit [options]
    --size NAME         small (ViT-S/16 on 224 x 224) or tiny (digits)
    --data FILE         .safetensors with "images" [n, height, width, channels]
                        of f32 and "labels" [n] of integers; default: digits
                        drawn as strokes, enlarged where the size is small
)";

struct Images {
  Tensor images, labels; ///< [n, height, width, channels], [n]
};

/// Digits as the model takes them: each dot several dots wide and of all
/// colours.
Images digits(const vit::Sizes &sizes, int64_t count) {
  const data::Digits drawn = data::make_digits(count, 1);
  const int64_t side = sizes.image, by = data::Digits::side;
  std::vector<float> values(size_t(count * side * side * sizes.channels));
  size_t k = 0;
  for (int64_t n = 0; n < count; ++n)
    for (int64_t y = 0; y < side; ++y)
      for (int64_t x = 0; x < side; ++x)
        for (int64_t c = 0; c < sizes.channels; ++c)
          values[k++] = float(drawn.images[size_t(
                            (n * by + y * by / side) * by + x * by / side)]) /
                        255.f;
  return {tensor(values, {count, side, side, sizes.channels}),
          tensor(std::vector<int32_t>(drawn.labels.begin(), drawn.labels.end()),
                 {count})};
}

void run(const example::Options &options) {
  const vit::Sizes sizes = vit::Sizes::named(options.size);
  const int64_t batch = options.batch ? options.batch : 16;
  const Mesh mesh = options.makeMesh();
  const vit::ViT model = vit::makeModel(sizes, mesh);
  if (!options.weights.empty())
    load_weights(model, options.weights, vit::publishedWeights());
  Images samples;
  if (options.data.empty()) {
    samples = digits(sizes, 8 * batch);
  } else {
    data::NamedTensors file = data::load_safetensors(options.data);
    if (!file.contains("images") || !file.contains("labels"))
      throw Error("--data: expected tensors \"images\" and \"labels\" in \"" +
                  options.data + "\"");
    samples = {file.at("images"), cast(file.at("labels"), DType::I32)};
  }
  const int64_t count = samples.images.shape().at(0);
  if (count < batch)
    throw Error("--data: expected at least " + std::to_string(batch) +
                " images, got " + std::to_string(count));
  const optimizers::Adam adam(options.rate);
  const DimSpec rows = example::axisOrNone(mesh, "batch");
  const Layout images({rows, UNSHARDED, UNSHARDED, UNSHARDED}, mesh),
      labels({rows}, mesh);

  auto step = function(
      [&](const Tensor &x, const Tensor &y) {
        GradientTape tape;
        Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(
            {.labels = y, .logits = model(x)}));
        adam.apply_gradients(tape.gradient(loss, model.trainable_variables()));
        return loss;
      },
      {.name = "train_step", .arguments = {"images", "labels"}});
  int64_t begin = 0;
  example::train(options.steps, [&] {
    auto part = [&](const Tensor &x) { return x(range(begin, begin + batch)); };
    Tensor x = distribute(part(samples.images), images),
           y = distribute(part(samples.labels), labels);
    begin = begin + 2 * batch > count ? 0 : begin + batch;
    return step(x, y).item<float>();
  });
  if (!options.save.empty())
    save_weights(model, options.save, vit::publishedWeights());
}

} // namespace

int main(int argc, char **argv) {
  try {
    run(example::parseOptions(argc, argv, Usage));
  } catch (const std::exception &error) {
    std::cerr << "vit: " << error.what() << '\n';
    return 1;
  }
}
