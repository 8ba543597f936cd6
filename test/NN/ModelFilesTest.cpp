// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The files that training writes of models, and how it goes on from them.
#include "meshloom/NN/Training/Checkpoints.h"

#include "../TemporaryFolder.h"
#include "meshloom/API/Logging.h"
#include "meshloom/Meshloom.h"

#include <gmock/gmock.h>

using namespace meshloom;
using namespace meshloom::test;
using testing::ElementsAre;
using testing::HasSubstr;
using ModelFilesTest = meshloom::test::TemporaryFolderTest;
namespace fs = std::filesystem;

namespace {

/// A line through numbers that begin alike.
Model lineThroughTwo() {
  Sequential model({Input({2}), layers::Dense(1)});
  model.compile({.optimizer = optimizers::Adam(0.1),
                 .loss = losses::Huber({.delta = 0.5}),
                 .metrics = {metrics::Metric("mae", "far")}});
  model.set_weights({tensor({{0.5f}, {-1.f}}), tensor({0.f})});
  return model;
}

/// 3 batches, in another order in every epoch.
auto examples() {
  const Tensor x = reshape(cast(iota({24}, 0), DType::F32) / 8.f - 1, {12, 2});
  return data::from_tensor_slices(x, reduce_sum(x, 1))
      .shuffle(12, {.seed = 7})
      .batch(4);
}

std::vector<std::string> namesIn(const fs::path &folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::vector<float> weightsOf(const Model &model) {
  std::vector<float> numbers;
  for (const Tensor &weight : model.get_weights())
    for (float number : weight.to_vector<float>())
      numbers.push_back(number);
  return numbers;
}

// A model that was loaded is compiled, and goes on as if nothing had been.
TEST_F(ModelFilesTest, ALoadedModelGoesOn) {
  const Tensor x = tensor({{1.f, 2.f}, {3.f, 4.f}}), y = tensor({{1.f}, {0.f}});
  Model model = lineThroughTwo();
  (void)model.fit(x, y,
                  {.epochs = 2,
                   .verbose = 0,
                   .callbacks = {callbacks::ModelCheckpoint(
                       folder / "ckpt-{epoch}.keras")}});
  EXPECT_THAT(namesIn(folder), ElementsAre("ckpt-1.keras", "ckpt-2.keras"));
  Model again = load_model(folder / "ckpt-2.keras");
  EXPECT_EQ(again.compile_config(), model.compile_config());
  EXPECT_FLOAT_EQ(float(again.learning_rate()), 0.1f);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(again.train_on_batch(x, y).values(),
              model.train_on_batch(x, y).values());
  EXPECT_FALSE(
      load_model(folder / "ckpt-2.keras", {.compile = false}).compiled());
}

// Parts that were made by value are saved as those by name.
TEST_F(ModelFilesTest, MetricsByValueAreSaved) {
  using namespace metrics;
  Model model = lineThroughTwo();
  model.compile({.optimizer = "sgd",
                 .loss = losses::MeanAbsoluteError(),
                 .metrics = {Accuracy(), BinaryAccuracy({.threshold = 0.25}),
                             SparseTopKCategoricalAccuracy({.k = 2}),
                             RootMeanSquaredError({.name = "root"}),
                             BinaryCrossentropy({.label_smoothing = 0.1}),
                             Precision({.thresholds = {0.25, 0.5}}),
                             AUC({.num_thresholds = 10, .curve = "PR"}),
                             MeanIoU({.num_classes = 3}), "acc"}});
  save(model, folder / "all.keras");
  Model again = load_model(folder / "all.keras");
  EXPECT_EQ(again.compile_config(), model.compile_config());
  const std::vector<Metric> &list = again.compile_options().metrics.shared;
  EXPECT_EQ(list[0].name(), "accuracy");
  EXPECT_EQ(list[3].name(), "root");
  EXPECT_EQ(list.back().name(), "acc");
  EXPECT_EQ(list[5].config().at("thresholds"),
            nn::Config(std::vector<double>{0.25, 0.5}));
}

// Batches are counted over epochs.
TEST_F(ModelFilesTest, SavesEverySoManyBatches) {
  (void)lineThroughTwo().fit(
      examples(), {.epochs = 3,
                   .verbose = 0,
                   .callbacks = {callbacks::ModelCheckpoint(
                       folder / "{epoch:02d}-{batch}",
                       {.save_weights_only = true, .save_freq = 4})}});
  EXPECT_THAT(namesIn(folder), ElementsAre("02-1", "03-2"));
  EXPECT_THROW(load_model(folder / "02-1"), Error);
  load_weights(lineThroughTwo(), folder / "02-1");
}

// Where the number did not get better nothing is written; where it is missing
// a warning says so.
TEST_F(ModelFilesTest, SavesTheBest) {
  std::vector<std::string> warnings;
  set_logger(
      [&](LogLevel, std::string_view text) { warnings.emplace_back(text); });
  callbacks::ModelCheckpoint missing(folder / "missing",
                                     {.save_best_only = true});
  callbacks::ModelCheckpoint best(folder / "best-{loss:.1f}",
                                  {.monitor = "loss", .save_best_only = true});
  callbacks::LambdaCallback numbers(
      {.on_epoch_end = [](int64_t epoch, Logs &logs) {
        logs.set("loss", epoch == 1 ? 5.0 : 4.0 - double(epoch));
      }});
  (void)lineThroughTwo().fit(
      examples(),
      {.epochs = 3, .verbose = 0, .callbacks = {numbers, missing, best}});
  set_logger({});
  EXPECT_THAT(namesIn(folder), ElementsAre("best-2.0", "best-4.0"));
  EXPECT_EQ(best.best(), 2);
  ASSERT_EQ(warnings.size(), 3u);
  EXPECT_THAT(warnings.front(), HasSubstr("'val_loss'"));
  callbacks::ModelCheckpoint wrong(folder / "{los}");
  EXPECT_THAT(refusal([&] {
                lineThroughTwo().fit(examples(),
                                     {.verbose = 0, .callbacks = {wrong}});
              }),
              HasSubstr("{los}"));
}

// After a crash in any batch the same weights come out as without one, under
// another strategy too.
TEST_F(ModelFilesTest, GoesOnAfterACrash) {
  struct Crash {};
  Model whole = lineThroughTwo();
  (void)whole.fit(examples(), {.epochs = 3, .verbose = 0});
  for (bool byBatches : {false, true}) {
    SCOPED_TRACE(byBatches);
    const callbacks::SaveFrequency often =
        byBatches ? callbacks::SaveFrequency(1) : "epoch";
    int64_t calls = 0;
    auto crash = [&](int64_t in) {
      return callbacks::LambdaCallback(
          {.on_train_batch_end = [&calls, in](int64_t, Logs &) {
            if (++calls == in)
              throw Crash();
          }});
    };
    EXPECT_THROW(
        lineThroughTwo().fit(
            examples(),
            {.epochs = 3,
             .verbose = 0,
             .callbacks = {callbacks::BackupAndRestore(folder / "backup",
                                                       {.save_freq = often}),
                           crash(5)}}),
        Crash);
    EXPECT_THAT(namesIn(folder / "backup"), ElementsAre("chief"));
    calls = 0;
    const std::vector<DeviceSpec> devices = virtual_cpus(2);
    const Strategy strategy = MirroredStrategy(devices);
    auto scope = strategy.scope();
    Model model = lineThroughTwo();
    const History history = model.fit(
        examples(), {.epochs = 3,
                     .verbose = 0,
                     .callbacks = {callbacks::BackupAndRestore(
                                       folder / "backup", {.save_freq = often}),
                                   crash(100)}});
    EXPECT_THAT(history.epoch, ElementsAre(1, 2));
    // The batch that crashed had not been seen by all callbacks.
    EXPECT_EQ(calls, byBatches ? 5 : 6);
    EXPECT_FALSE(fs::exists(folder / "backup"));
    const std::vector<float> wanted = weightsOf(whole), got = weightsOf(model);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], wanted[i], 1e-5);
  }
}

// A model without input shape is made for the first batch before it is
// restored.
TEST_F(ModelFilesTest, RestoresAModelThatIsNotBuilt) {
  auto fit = [&](int64_t epochs) {
    Sequential model({layers::Dense(1)});
    model.compile({.optimizer = "sgd", .loss = "mse"});
    (void)model.fit(examples(),
                    {.epochs = epochs,
                     .verbose = 0,
                     .callbacks = {callbacks::BackupAndRestore(
                         folder / "b", {.delete_checkpoint = false})}});
    return weightsOf(model);
  };
  const std::vector<float> first = fit(1);
  EXPECT_EQ(fit(1), first);
  EXPECT_NE(fit(2), first);
}

} // namespace
