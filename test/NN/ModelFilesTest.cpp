// What training writes of models, and how it goes on from that.
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
using EstimatorTest = meshloom::test::TemporaryFolderTest;
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
  std::vector<float> all;
  for (const Tensor &weight : model.get_weights())
    for (float number : weight.to_vector<float>())
      all.push_back(number);
  return all;
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
  const std::vector<Metric> &all = again.compile_options().metrics.all;
  EXPECT_EQ(all[0].name(), "accuracy");
  EXPECT_EQ(all[3].name(), "root");
  EXPECT_EQ(all.back().name(), "acc");
  EXPECT_EQ(std::get<std::vector<double>>(all[5].config().at("thresholds")),
            (std::vector<double>{0.25, 0.5}));
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
    EXPECT_EQ(calls, byBatches ? 4 : 6);
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

// The numbers of TensorFlow's guide: 3 steps, then 3 more from the folder.
TEST_F(EstimatorTest, TrainsAndEvaluatesAndGoesOn) {
  auto input = [](const Tensor &x, const Tensor &y) {
    return [=]() -> data::AnyDataset {
      return data::from_tensor_slices(x, y).batch(1);
    };
  };
  const estimator::Estimator line(
      [](const Tensor &features, const Tensor &labels,
         estimator::ModeKeys mode) {
        const layers::Dense layer(1);
        const Tensor logits = layer(features);
        const metrics::Metric far = metrics::MeanAbsoluteError();
        far.update_state(labels, logits);
        return estimator::EstimatorSpec{
            .mode = mode,
            .loss = losses::MeanSquaredError()(labels, logits),
            .optimizer = optimizers::Adagrad({.learning_rate = 0.05}),
            .eval_metric_ops = {{"far", far}}};
      },
      {.model_dir = folder / "model"});
  const estimator::TrainSpec train{
      input(tensor({{1.f, 1.5f}, {2.f, 2.5f}, {3.f, 3.5f}}),
            tensor({{.3f}, {.5f}, {.7f}}))};
  const estimator::EvalSpec evaluation{
      input(tensor({{4.f, 4.5f}, {5.f, 5.5f}, {6.f, 6.5f}}),
            tensor({{.8f}, {.9f}, {1.f}}))};
  EXPECT_THAT(refusal([&] { line.evaluate(evaluation.input_fn); }),
              HasSubstr("no checkpoint"));
  auto numbers = estimator::train_and_evaluate(line, train, evaluation);
  EXPECT_EQ(numbers["global_step"], 3);
  EXPECT_EQ(numbers.size(), 3u);
  // All errors are on one side: their mean is no more than the root of that of
  // their squares, and more than half of it.
  EXPECT_LE(numbers["far"], std::sqrt(numbers["loss"]));
  EXPECT_GT(numbers["far"], std::sqrt(numbers["loss"]) / 2);
  EXPECT_THAT(namesIn(folder / "model"),
              ElementsAre("model.ckpt-0", "model.ckpt-3"));
  EXPECT_EQ(line.evaluate(evaluation.input_fn), numbers);
  EXPECT_EQ(line.train(train.input_fn, 5), 5);
  EXPECT_EQ(line.train(train.input_fn, 5), 5);
  EXPECT_EQ(line.evaluate(evaluation.input_fn)["global_step"], 5);

  // An input whose last batch is another one: the same variables.
  auto uneven = [&]() -> data::AnyDataset {
    return data::from_tensor_slices(
               tensor({{1.f, 1.5f}, {2.f, 2.5f}, {3.f, 3.5f}}),
               tensor({{.3f}, {.5f}, {.7f}}))
        .batch(2);
  };
  EXPECT_EQ(line.train(uneven), 7);
  const estimator::Estimator wrong(
      [](const Tensor &features, const Tensor &, estimator::ModeKeys mode) {
        return estimator::EstimatorSpec{
            .mode = mode,
            .loss =
                reduce_sum(layers::Dense(features.shape().front())(features)),
            .optimizer = "sgd"};
      },
      {.model_dir = folder / "wrong"});
  EXPECT_THAT(refusal([&] { wrong.train(uneven); }),
              HasSubstr("the same variables in each call"));
}

} // namespace
