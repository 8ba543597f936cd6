// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Callbacks of training by themselves: what they keep, show and decide.
#include "../API/Testing.h"
#include "../TemporaryFolder.h"

#include "meshloom/NN/Training/TensorBoard.h"
#include "meshloom/Support/File.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <sstream>

namespace meshloom {
namespace {

/// A model that a step costs next to nothing of.
Model tiny(std::vector<metrics::Metric> metrics = {}) {
  Sequential model({Input({1}), layers::Dense(1, {.activation = "sigmoid"})});
  model.compile({.optimizer = optimizers::SGD(1.),
                 .loss = "mse",
                 .metrics = std::move(metrics)});
  return model;
}

/// Gives each epoch that number under a name.
callbacks::LambdaCallback shows(std::string name, std::vector<double> values) {
  return callbacks::LambdaCallback(
      {.on_epoch_end = [name, values](int64_t epoch, Logs &logs) {
        logs.set(name, values.at(size_t(epoch)));
      }});
}

// The rates that Keras's rules give.
TEST(ReduceLROnPlateauTest, WaitsAndRests) {
  const std::vector<double> values{1, 1, 1, 0.5, 0.5, 0.5};
  const History history = tiny().fit(
      ones({2, 1}), ones({2, 1}),
      {.epochs = 6,
       .verbose = 0,
       .callbacks = {shows("m", values),
                     callbacks::ReduceLROnPlateau({.monitor = "m",
                                                   .factor = 0.5,
                                                   .patience = 1,
                                                   .cooldown = 1,
                                                   .min_lr = 0.2})}});
  EXPECT_THAT(
      history["learning_rate"],
      testing::Pointwise(testing::DoubleNear(1e-6),
                         std::vector<double>{1, 1, 0.5, 0.25, 0.25, 0.2}));
}

TEST(TerminateOnNaNTest, EndsTraining) {
  const Tensor x = full({4, 1}, std::nan(""));
  std::string warning;
  const Logger before =
      set_logger([&](LogLevel, std::string_view text) { warning += text; });
  const History history =
      tiny().fit(x, ones({4, 1}),
                 {.batch_size = 1,
                  .epochs = 3,
                  .verbose = 0,
                  .callbacks = {callbacks::TerminateOnNaN()}});
  set_logger(before);
  EXPECT_EQ(history.epoch.size(), 1u);
  EXPECT_THAT(warning,
              HAS("after training step 1 the loss is nan, and a nan or "
                  "an infinity is in the variables '"));
}

TEST(ValidationTest, ComesEverySoManyEpochs) {
  const Tensor x = ones({2, 1});
  const History history = tiny().fit(x, x,
                                     {.epochs = 6,
                                      .verbose = 0,
                                      .validation_data = {x, x},
                                      .initial_epoch = 2,
                                      .validation_freq = 3});
  EXPECT_EQ(history.epoch, (std::vector<int64_t>{2, 3, 4, 5}));
  EXPECT_EQ(history["val_loss"].size(), 2u); // after the third and the sixth
}

// Where it was not said, the metric of that name tells which way is better.
TEST(EarlyStoppingTest, KnowsWhichWayIsBetter) {
  auto epochs = [](const std::string &monitor) {
    Model model = tiny({metrics::Precision({.name = "p"})});
    return model
        .fit(ones({2, 1}), ones({2, 1}),
             {.epochs = 4,
              .verbose = 0,
              .callbacks = {shows(monitor, {0.1, 0.2, 0.3, 0.4}),
                            callbacks::EarlyStopping(
                                {.monitor = monitor, .patience = 1})}})
        .epoch.size();
  };
  EXPECT_EQ(epochs("val_p"), 4u);
  EXPECT_EQ(epochs("val_recall"), 4u);
  EXPECT_EQ(epochs("val_q"), 2u);
}

// Numbers of a batch are read when the first is asked for.
TEST(LogsTest, AreReadWhenAskedFor) {
  int reads = 0;
  Logs logs([&] {
    ++reads;
    return std::vector<Logs::Value>{{"loss", 2.0}, {"accuracy", 0.5}};
  });
  logs.set("loss", 1.0);
  logs.set("learning_rate", 0.1);
  EXPECT_EQ(reads, 0);
  EXPECT_EQ(logs.at("loss"), 1.0);
  EXPECT_EQ(logs.at("accuracy"), 0.5);
  EXPECT_EQ(logs.find("val_loss"), std::nullopt);
  EXPECT_EQ(logs.values().size(), 3u);
  EXPECT_EQ(reads, 1);
  EXPECT_ERROR(logs.at("acuracy"), HAS("'acuracy'"), HAS("'accuracy'"));
}

// Keras's lines: numbers below 1e-3 have an exponent.
TEST(ProgbarLoggerTest, WritesLinesAndBars) {
  for (int verbose : {2, 1}) {
    std::ostringstream out;
    callbacks::ProgbarLogger progress(&out);
    Model model = Sequential({Input({1}), layers::Dense(1)});
    model.compile({.optimizer = "sgd", .loss = "mse"});
    const Tensor x = ones({20, 1}), y = zeros({20, 1});
    model.set_weights({zeros({1, 1}), zeros({1})});
    model.fit(x, y,
              {.batch_size = 10,
               .epochs = 2,
               .verbose = verbose,
               .callbacks = {progress}});
    if (verbose == 2)
      EXPECT_THAT(out.str(),
                  testing::MatchesRegex(
                      "Epoch 1/2\n2/2 - [0-9]+s - loss: 0.0000e\\+00 - "
                      "[0-9]+m?u?s/epoch - [0-9]+m?u?s/step\nEpoch 2/2\n.*\n"));
    else
      EXPECT_THAT(out.str(),
                  testing::MatchesRegex(
                      "Epoch 1/2\n2/2 \\[=+\\] - [0-9]+s [0-9]+m?u?s/step - "
                      "loss: 0.0000e\\+00\nEpoch 2/2\n.*\n"));
  }
}

/// Returns the text that a command prints.
std::string outputOf(const std::string &command) {
  FILE *pipe = popen(command.c_str(), "r");
  std::string text;
  for (int c = 0; pipe && (c = fgetc(pipe)) != EOF;)
    text += char(c);
  if (pipe)
    pclose(pipe);
  return text;
}

// TensorBoard's own reader finds what was written.
TEST(TensorBoardTest, ItsReaderReadsTheFiles) {
  const std::string python = MESHLOOM_PYTHON;
  if (outputOf(python + " -c 'import tensorboard; print(1)' 2>/dev/null") !=
      "1\n")
    GTEST_SKIP() << "the Python package tensorboard is not installed: "
                    "MESHLOOM_PEER_PYTHON names a Python that has it";
  const test::TemporaryFolder folder;
  Sequential model({Input({1}), layers::Dense(1)});
  model.compile({.optimizer = optimizers::SGD(0.0), .loss = "mse"});
  model.set_weights({tensor({{1.f}}), tensor({0.f})});
  const Tensor x = ones({4, 1}), y = zeros({4, 1});
  model.fit(
      x, y,
      {.batch_size = 2,
       .epochs = 2,
       .verbose = 0,
       .callbacks = {callbacks::TensorBoard(
           {.log_dir = folder.path, .histogram_freq = 1, .update_freq = 1})},
       .validation_data = {x, y}});
  const std::string train =
      outputOf(python + " " MESHLOOM_SOURCE "/test/NN/read_events.py " +
               (folder / "train").string() + " 2>/dev/null");
  EXPECT_THAT(train, HAS("scalar batch_loss 0: 1, 1: 1, 2: 1, 3: 1"));
  EXPECT_THAT(train, HAS("scalar epoch_loss 0: 1, 1: 1"));
  EXPECT_THAT(train, HAS("kernel 1: 1 in [1, 1]"));
  EXPECT_THAT(train, HAS("Dense ['sequential/"));
  EXPECT_THAT(outputOf(python + " " MESHLOOM_SOURCE "/test/NN/read_events.py " +
                       (folder / "validation").string() + " 2>/dev/null"),
              HAS("scalar epoch_loss 0: 1, 1: 1"));
}

// The profile of the chosen batches names the function and its steps.
TEST(TensorBoardTest, ProfileHasTheStepsOfItsBatches) {
  const test::TemporaryFolder folder;
  Sequential model({Input({1}), layers::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.fit(ones({4, 1}), zeros({4, 1}),
            {.batch_size = 1,
             .verbose = 0,
             .callbacks = {callbacks::TensorBoard(
                 {.log_dir = folder.path, .profile_batch = {2, 3}})}});
  std::string profile;
  for (auto &file :
       std::filesystem::recursive_directory_iterator(folder / "plugins"))
    if (file.path().extension() == ".pb")
      profile += *readFile(file.path().string());
  EXPECT_THAT(profile, HAS("dot_general"));
}

// Numbers are those of Keras 3.15.
TEST(SwapEMAWeightsTest, EvaluatesAverages) {
  for (bool between : {false, true}) {
    SCOPED_TRACE(between);
    Sequential model({Input({1}), layers::Dense(1, {.use_bias = false})});
    const optimizers::SGD sgd(
        {.learning_rate = 0.1, .common = {.ema_momentum = 0.5}});
    model.compile({.optimizer = sgd, .loss = "mse"});
    model.set_weights({tensor({{3.f}})});
    auto weight = [&] {
      return double(model.get_weights()[0].to_vector<float>()[0]);
    };
    std::vector<double> seen;
    callbacks::LambdaCallback looks(
        {.on_epoch_end = [&](int64_t, Logs &) { seen.push_back(weight()); }});
    const Tensor x = ones({4, 1}), y = zeros({4, 1});
    auto fit = [&](int64_t epochs) {
      return model.fit(
          x, y,
          {.batch_size = 4,
           .epochs = epochs,
           .verbose = 0,
           .callbacks = {callbacks::SwapEMAWeights({.swap_on_epoch = between}),
                         looks},
           .validation_data = {x, y}});
    };
    const History history = fit(3);
    const std::vector<double> losses{9, 5.76, 3.6864},
        averaged{5.76, 4.6656003, 3.4151042},
        weights = between ? std::vector{2.4, 2.16, 1.848}
                          : std::vector{2.4, 1.92, 1.536};
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(history["loss"][i], losses[i], 1e-5);
      EXPECT_NEAR(history["val_loss"][i], averaged[i], 1e-5);
      EXPECT_NEAR(seen.at(i), weights[i], 1e-5);
    }
    EXPECT_NEAR(weight(), 1.848, 1e-5);
    // Another fit goes on from there, with the same callback's work done anew.
    EXPECT_NEAR(fit(1)["loss"][0], 1.848 * 1.848, 1e-5);

    const double before = weight();
    EXPECT_EQ(model.predict(x, {.verbose = 0}).to_vector<float>()[0], before);
  }
  Sequential plain({Input({1}), layers::Dense(1)});
  plain.compile({.optimizer = "sgd", .loss = "mse"});
  EXPECT_ERROR(
      plain.fit(ones({2, 1}), ones({2, 1}),
                {.verbose = 0, .callbacks = {callbacks::SwapEMAWeights()}}),
      HAS("[SwapEMAWeights]"), HAS("ema_momentum"));
}

// Training that is stopped between epochs ends with the averages, too.
TEST(SwapEMAWeightsTest, StoppedTrainingEndsWithAverages) {
  Sequential model({Input({1}), layers::Dense(1, {.use_bias = false})});
  model.compile({.optimizer = optimizers::SGD(
                     {.learning_rate = 0.1, .common = {.ema_momentum = 0.5}}),
                 .loss = "mse"});
  model.set_weights({tensor({{3.f}})});
  callbacks::LambdaCallback stops({.on_epoch_end = [&](int64_t epoch, Logs &) {
    if (epoch == 1)
      model.stop_training();
  }});
  model.fit(ones({4, 1}), zeros({4, 1}),
            {.batch_size = 4,
             .epochs = 5,
             .verbose = 0,
             .callbacks = {callbacks::SwapEMAWeights({.swap_on_epoch = true}),
                           stops}});
  EXPECT_NEAR(double(model.get_weights()[0].to_vector<float>()[0]), 2.16, 1e-5);
}

} // namespace
} // namespace meshloom
