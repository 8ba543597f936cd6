// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program of Keras's guide to training on several GPUs: an MLP for MNIST
// that is fit and evaluated, and training that is started again from the newest
// model in a folder.
#include "../options/OutputFolder.h"
#include "../options/StrategyOptions.h"

#include <meshloom/Data/Digits.h>
#include <meshloom/Data/Mnist.h>
#include <meshloom/Meshloom.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

using namespace meshloom;
namespace fs = std::filesystem;

namespace {

const char *const Usage = R"(usage: keras_mnist [options]
    --data DIR      MNIST's four files (digits that are drawn, in --output)
    --output DIR    where models are written (keras_mnist)
    --images N      training images, the last sixth of them, 10000 at most, to
                    validate (60000)
    --epochs N      how often they are seen before the restart (2)
    --small         600 images, without models of an earlier run
)";

Model getCompiledModel() {
  const SymbolicTensor inputs = Input({784});
  SymbolicTensor x = layers::Dense(256, {.activation = "relu"})(inputs);
  x = layers::Dense(256, {.activation = "relu"})(x);
  const SymbolicTensor outputs = layers::Dense(10)(x);
  Model model(inputs, outputs);
  model.compile(
      {.optimizer = optimizers::Adam(),
       .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
       .metrics = {metrics::SparseCategoricalAccuracy()}});
  return model;
}

using Digits = data::Dataset<std::pair<Tensor, Tensor>>;
struct Splits {
  Digits train, validation, test;
};

Splits getDataset(const fs::path &folder, int64_t images) {
  const int64_t held = std::min<int64_t>(10000, images / 6);
  auto batches = [](const data::Dataset<data::LabelledImages> &digits) {
    return digits.batch(32)
        .map([](const data::LabelledImages &batch) {
          return std::pair(batch.images, cast(batch.labels, DType::F32));
        })
        .cache()
        .prefetch(2);
  };
  const auto train =
      data::load_mnist(folder, data::MnistPart::Train).take(images);
  const auto test = data::load_mnist(folder, data::MnistPart::Test);
  return {batches(train.take(images - held)),
          batches(train.skip(images - held)), batches(test)};
}

/// The newest model in the folder, or a new one.
Model makeOrRestoreModel(const fs::path &folder) {
  std::vector<fs::path> models;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder))
    models.push_back(entry.path());
  if (models.empty()) {
    std::cout << "Creating a new model\n";
    return getCompiledModel();
  }
  const fs::path newest = *std::ranges::max_element(
      models, {}, [](const fs::path &path) { return last_write_time(path); });
  std::cout << "Restoring from " << newest.string() << '\n';
  return load_model(newest);
}

void runTraining(const example::StrategyOptions &options,
                 const fs::path &folder, const Splits &digits, int64_t epochs) {
  const Strategy strategy = options.makeStrategy();
  auto scope = options.scope(strategy);
  Model model = makeOrRestoreModel(folder);
  (void)model.fit(
      digits.train,
      {.epochs = epochs,
       .verbose = 2,
       .callbacks = {callbacks::ModelCheckpoint(folder / "ckpt-{epoch}.keras")},
       .validation_data = digits.validation});
  (void)model.evaluate(digits.test, {.verbose = 2});
}

} // namespace

int main(int argc, char **argv) {
  try {
    const example::StrategyOptions options =
        example::parseStrategyOptions(argc, argv, Usage);
    const int64_t images =
        options.number("--images", options.has("--small") ? 600 : 60000);
    const fs::path output = options.text("--output", "keras_mnist");
    fs::path folder = options.text("--data", "");
    if (folder.empty()) {
      folder = output / ("digits-" + std::to_string(images));
      if (!fs::exists(folder / "t10k-labels-idx1-ubyte"))
        data::write_digits(folder, images, std::max<int64_t>(images / 6, 1), 1);
    }
    const Splits digits = getDataset(folder, images);
    const fs::path models = output / "ckpt";
    if (options.has("--small"))
      example::clearFolder(models);
    fs::create_directories(models);
    // The first makes a model, unless an earlier run left one; the second goes
    // on with what the first one wrote.
    runTraining(options, models, digits, options.number("--epochs", 2));
    runTraining(options, models, digits, 1);
  } catch (const std::exception &error) {
    std::cerr << "keras_mnist: " << error.what() << '\n';
    return 1;
  }
}
