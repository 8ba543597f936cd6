// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains the MLP of TensorFlow's tutorial "DTensor with Core APIs" on virtual
// CPUs or the devices of another platform: data parallel by default, any other
// mesh on request.
#include "Model.h"
#include "Options.h"
#include "Progress.h"
#include "Report.h"

#include <meshloom/Data/Digits.h>
#include <meshloom/Data/Mnist.h>

#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

using namespace meshloom;

namespace mnist {
namespace {

/// A model with its optimizer and compiled steps, on one mesh.
struct Trainer {
  Mesh mesh;
  Layout images, labels;
  Mlp model;
  optimizers::Adam adam{1e-3, 0.9, 0.999, 1e-7};

  Trainer(const Options &options, const std::vector<MeshAxis> &axes,
          const std::string &batchAxis, const std::string &modelAxis)
      : mesh(create_mesh(axes, devicesOf(options))),
        images(batchAxis.empty() ? Layout::replicated(mesh, 2)
                                 : Layout::batch_sharded(mesh, batchAxis, 2)),
        labels(images.remove({1})),
        model(widths(options.hidden), mesh, modelAxis) {}

  /// Returns as many devices as the mesh has; a plug-in for CPUs can create
  /// more than it lists.
  static std::vector<DeviceSpec> devicesOf(const Options &options) {
    if (options.platform.empty())
      return virtual_cpus(options.devices());
    const std::string type = connect_platform(options.platform).front().type;
    std::vector<DeviceSpec> devices;
    for (int64_t i = 0; i < options.devices(); ++i)
      devices.push_back({type, i});
    return devices;
  }

  static std::vector<int64_t> widths(const std::vector<int64_t> &hidden) {
    std::vector<int64_t> sizes = {784};
    sizes.insert(sizes.end(), hidden.begin(), hidden.end());
    sizes.push_back(10);
    return sizes;
  }

  Metrics trainStep(const Tensor &x, const Tensor &y) const {
    GradientTape tape;
    Metrics result = metrics(y, model(x));
    adam.apply_gradients(
        tape.gradient(result.loss, model.trainable_variables()));
    return result;
  }
  auto compiledTrainStep() const {
    return function(
        [this](const Tensor &x, const Tensor &y) { return trainStep(x, y); },
        {.name = "train_step", .arguments = {"images", "labels"}});
  }
  auto compiledTestStep() const {
    return function([this](const Tensor &x,
                           const Tensor &y) { return metrics(y, model(x)); },
                    {.name = "test_step", .arguments = {"images", "labels"}});
  }
};

/// Loss and accuracy over a whole epoch, every image weighted alike.
struct Mean {
  double loss = 0, accuracy = 0;
  int64_t count = 0;
  void add(const Metrics &batch, int64_t size) {
    loss += double(batch.loss.item<float>()) * double(size);
    accuracy += double(batch.accuracy.item<float>()) * double(size);
    count += size;
  }
  double meanLoss() const { return loss / double(count); }
  double meanAccuracy() const { return accuracy / double(count); }
  std::string note() const {
    std::ostringstream text;
    text << std::fixed << std::setprecision(4) << "loss " << meanLoss()
         << " accuracy " << meanAccuracy();
    return text.str();
  }
};

struct Split {
  data::Dataset<data::LabelledImages> train, test;
};

Split loadData(const Options &options) {
  namespace fs = std::filesystem;
  fs::path folder = options.data;
  if (options.data.empty()) {
    folder = fs::path(options.output) /
             ("digits-" + std::to_string(options.trainImages) + "-" +
              std::to_string(options.testImages));
    if (!fs::exists(folder / "t10k-labels-idx1-ubyte")) {
      std::cout << "Generating " << options.trainImages << " training and "
                << options.testImages << " test digits in " << folder.string()
                << std::endl;
      data::write_digits(folder, options.trainImages, options.testImages, 1);
    }
  }
  auto train = data::load_mnist(folder, data::MnistPart::Train);
  auto test = data::load_mnist(folder, data::MnistPart::Test);
  return {train.take(options.trainImages), test.take(options.testImages)};
}

std::string outputFile(const Options &options, const char *name) {
  return (std::filesystem::path(options.output) / name).string();
}

/// Prints what a training step is compiled to, and how that differs from the
/// step of a mesh with a batch axis alone.
template <typename Step>
void printStep(const Options &options, const Trainer &trainer,
               const Step &trainStep, const data::LabelledImages &batch) {
  auto concrete = [&batch](const Step &step, const Trainer &trainer) {
    return step.get_concrete_function(distribute(batch.images, trainer.images),
                                      distribute(batch.labels, trainer.labels));
  };
  ConcreteFunction step = concrete(trainStep, trainer);
  printLayouts(step);
  printCollectives(step);
  if (options.explain)
    std::cout << step.explain();
  if (options.modelAxis().empty())
    return;
  const std::vector<MeshAxis> axes = {{"batch", options.devices()}};
  Trainer plain(options, axes, "batch", "");
  printDifference(step, concrete(plain.compiledTrainStep(), plain),
                  meshText(options.mesh));
}

/// The loss and accuracy of each epoch, for training and testing.
struct Curves {
  std::vector<double> trainLoss, trainAccuracy, testLoss, testAccuracy;

  void add(const Mean &training, const Mean &testing) {
    trainLoss.push_back(training.meanLoss());
    trainAccuracy.push_back(training.meanAccuracy());
    testLoss.push_back(testing.meanLoss());
    testAccuracy.push_back(testing.meanAccuracy());
    std::cout << std::fixed << std::setprecision(3)
              << "Training loss: " << trainLoss.back()
              << ", Training accuracy: " << trainAccuracy.back()
              << "\nTesting loss: " << testLoss.back()
              << ", Testing accuracy: " << testAccuracy.back() << std::endl;
  }
  void plotTo(const std::string &lossFile,
              const std::string &accuracyFile) const {
    plot({{"Training loss", trainLoss}, {"Testing loss", testLoss}}, lossFile,
         {.title = "MLP training loss", .x_label = "Epoch", .y_label = "Loss"});
    plot({{"Training accuracy", trainAccuracy},
          {"Testing accuracy", testAccuracy}},
         accuracyFile,
         {.title = "MLP training accuracy",
          .x_label = "Epoch",
          .y_label = "Accuracy"});
    std::cout << "Plots: " << lossFile << ", " << accuracyFile << '\n';
  }
};

/// Runs a step on all batches and calls `afterStep` with the metrics of each.
template <typename Step, typename AfterStep>
Mean runEpoch(const char *title, const Trainer &trainer, const Step &step,
              data::Dataset<data::LabelledImages> batches,
              const AfterStep &afterStep) {
  Mean mean;
  Progress bar(title, batches.cardinality());
  int64_t i = 0;
  for (const data::LabelledImages &batch : batches) {
    Metrics result = step(distribute(batch.images, trainer.images),
                          distribute(batch.labels, trainer.labels));
    mean.add(result, batch.size());
    afterStep(result);
    bar.update(++i, mean.note());
  }
  return mean;
}

void train(const Options &options) {
  Trainer trainer(options, options.mesh, options.batchAxis(),
                  options.modelAxis());
  std::filesystem::create_directories(options.output);
  Split split = loadData(options);
  std::cout << "Mesh " << meshText(options.mesh) << ": " << trainer.mesh.size()
            << ' '
            << (options.platform.empty() ? "virtual CPUs"
                                         : "devices of " + options.platform)
            << "; " << split.train.cardinality() << " training and "
            << split.test.cardinality() << " test images, batches of "
            << options.batchSize << '\n';

  auto trainStep = trainer.compiledTrainStep();
  auto testStep = trainer.compiledTestStep();
  printStep(options, trainer, trainStep,
            split.train.batch(options.batchSize).iterate().get_next());
  std::ofstream losses(outputFile(options, "losses.csv"));
  losses << "step,loss\n" << std::setprecision(9);
  Curves curves;
  int64_t steps = 0;
  for (int64_t epoch = 0; epoch < options.epochs; ++epoch) {
    std::cout << "Epoch: " << epoch << std::endl;
    auto shuffled = split.train.shuffle(
        split.train.cardinality(),
        {.seed = uint64_t(epoch), .reshuffle_each_iteration = false});
    Mean training =
        runEpoch("training", trainer, trainStep,
                 shuffled.batch(options.batchSize), [&](const Metrics &result) {
                   losses << ++steps << ',' << result.loss.item<float>()
                          << '\n';
                 });
    Mean testing =
        runEpoch("testing", trainer, testStep,
                 split.test.batch(options.batchSize), [](const Metrics &) {});
    curves.add(training, testing);
  }
  curves.plotTo(outputFile(options, "loss.svg"),
                outputFile(options, "accuracy.svg"));
}

} // namespace
} // namespace mnist

int main(int argc, char **argv) {
  try {
    mnist::train(mnist::parseOptions(argc, argv));
  } catch (const std::exception &error) {
    std::cerr << "mnist_mlp: " << error.what() << '\n';
    return 1;
  }
}
