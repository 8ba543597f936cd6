// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trainings that go on after a restart: callbacks have what they had seen, so
// that they end as without one, wherever it comes.
#include "meshloom/NN/Training/Checkpoints.h"

#include "../TemporaryFolder.h"
#include "meshloom/API/Logging.h"
#include "meshloom/Meshloom.h"

#include <gmock/gmock.h>

using namespace meshloom;
using namespace meshloom::test;
using testing::ElementsAre;
using testing::HasSubstr;
using ResumeTest = meshloom::test::TemporaryFolderTest;
namespace fs = std::filesystem;

namespace {

struct Crash {};

Model line() {
  Sequential model({Input({1}), layers::Dense(1)});
  model.compile(
      {.optimizer = optimizers::SGD({.learning_rate = 0.05, .momentum = 0.5}),
       .loss = "mse",
       .metrics = {"mae"}});
  model.set_weights({tensor({{0.f}}), tensor({0.f})});
  return model;
}

/// Three batches an epoch.
auto batches() {
  const Tensor x = tensor({{1.f}, {2.f}, {-1.f}, {0.5f}, {1.5f}, {-2.f}});
  return data::from_tensor_slices(x, x * 3.f - 1.f).batch(2);
}

/// A number that falls, rises and stays: what callbacks look at.
callbacks::LambdaCallback falling() {
  return callbacks::LambdaCallback(
      {.on_epoch_end = [](int64_t epoch, Logs &logs) {
        constexpr std::array numbers{0.9, 0.4, 0.6, 0.5, 0.2,
                                     0.3, 0.3, 0.3, 0.3, 0.3};
        logs.set("m", numbers.at(size_t(epoch)));
      }});
}

/// A user's own: sums what it sees, by batches and by epochs.
struct Adds : callbacks::Callback {
  double batchLosses = 0, epochLosses = 0;
  int64_t epochs = 0;
  void on_train_begin(Logs &) override {
    batchLosses = epochLosses = 0;
    epochs = 0;
  }
  void on_train_batch_end(int64_t, Logs &logs) override {
    batchLosses += logs.at("loss");
  }
  void on_epoch_end(int64_t, Logs &logs) override {
    epochLosses += logs.at("loss") + logs.at("mae");
    ++epochs;
  }
  callbacks::CallbackState get_state() const override {
    return {.values =
                nn::Config::Map{{"batches", batchLosses}, {"epochs", epochs}},
            .tensors = {{"losses", tensor(epochLosses)}}};
  }
  void set_state(const callbacks::CallbackState &state) override {
    batchLosses = state.values.at("batches").as_double();
    epochs = state.values.at("epochs").as_int();
    epochLosses = state.tensors.at("losses").item<double>();
  }
};

/// All that is left of a training.
struct Outcome {
  std::vector<float> weights = {};
  double rate = 0, best = 0, batchLosses = 0, epochLosses = 0;
  int64_t epochs = 0, bestEpoch = 0, iterations = 0, steps = 0;
  std::optional<int64_t> stopped = {};
  std::string table = {};
  float bestWeight = 0;
  bool operator==(const Outcome &) const = default;
};

class Trainings {
public:
  explicit Trainings(fs::path folder) : folder(std::move(folder)) {}

  /// Trains, and crashes in the calls of these numbers of callbacks.
  Outcome run(const std::vector<int64_t> &crashes,
              const callbacks::SaveFrequency &often) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    int64_t calls = 0;
    for (size_t start = 0;; ++start) {
      const std::optional<int64_t> last =
          start < crashes.size() ? std::optional(crashes[start]) : std::nullopt;
      auto die = [&] {
        if (last && ++calls == *last) {
          calls = 0;
          throw Crash();
        }
      };
      try {
        return once(die, often);
      } catch (const Crash &) {
      }
    }
  }

private:
  Outcome once(const std::function<void()> &die,
               const callbacks::SaveFrequency &often) {
    callbacks::LambdaCallback dies(
        {.on_epoch_begin = [=](int64_t, Logs &) { die(); },
         .on_epoch_end = [=](int64_t, Logs &) { die(); },
         .on_train_end = [=](Logs &) { die(); },
         .on_train_batch_end = [=](int64_t, Logs &) { die(); }});
    callbacks::EarlyStopping stop({.monitor = "m",
                                   .patience = 4,
                                   .mode = callbacks::Mode::Min,
                                   .restore_best_weights = true});
    callbacks::ModelCheckpoint best(
        folder / "best",
        {.monitor = "m", .save_best_only = true, .mode = callbacks::Mode::Min});
    Adds adds;
    Model model = line();
    (void)model.fit(
        batches(),
        {.epochs = 10,
         .verbose = 0,
         .callbacks = {
             callbacks::BackupAndRestore(folder / "backup",
                                         {.save_freq = often}),
             falling(), stop, best, adds,
             callbacks::ReduceLROnPlateau({.monitor = "m",
                                           .factor = 0.5,
                                           .patience = 2,
                                           .mode = callbacks::Mode::Min}),
             callbacks::CSVLogger(folder / "log.csv"), dies}});
    EXPECT_FALSE(fs::exists(folder / "backup"));
    std::ifstream file(folder / "log.csv");
    Outcome outcome{
        .rate = model.learning_rate(),
        .best = best.best(),
        .batchLosses = adds.batchLosses,
        .epochLosses = adds.epochLosses,
        .epochs = adds.epochs,
        .bestEpoch = stop.best_epoch(),
        .iterations = model.optimizer().iterations().item<int64_t>(),
        .steps = model.steps_taken(),
        .stopped = stop.stopped_epoch(),
        .table = {std::istreambuf_iterator<char>(file), {}},
        .bestWeight =
            load_model(folder / "best").get_weights()[0].item<float>()};
    for (const Tensor &weight : model.get_weights())
      outcome.weights.push_back(weight.item<float>());
    return outcome;
  }

  fs::path folder;
};

// Crashes at every place, with backups by epochs and by batches: no number of
// any callback, no file and no weight is another one for it.
TEST_F(ResumeTest, EndsAsWithoutARestart) {
  Trainings trainings(folder / "t");
  const Outcome whole = trainings.run({}, "epoch");
  EXPECT_EQ(whole.stopped, 8);
  EXPECT_EQ(whole.bestEpoch, 4);
  EXPECT_EQ(whole.best, 0.2);
  EXPECT_EQ(whole.epochs, 9);
  EXPECT_EQ(whole.iterations, 27);
  EXPECT_LT(whole.rate, 0.04);
  EXPECT_EQ(whole.weights[0], whole.bestWeight);
  for (const auto &often :
       {callbacks::SaveFrequency("epoch"), callbacks::SaveFrequency(1),
        callbacks::SaveFrequency(4)})
    for (const std::vector<int64_t> &crashes :
         {std::vector<int64_t>{9}, {12}, {13}, {20, 7}, {24, 1}, {45}, {46}}) {
      SCOPED_TRACE(testing::Message()
                   << crashes[0] << ", every " << often.batches.value_or(0));
      const Outcome parts = trainings.run(crashes, often);
      EXPECT_EQ(parts.table, whole.table);
      EXPECT_EQ(parts.stopped, whole.stopped);
      EXPECT_EQ(parts.rate, whole.rate);
      EXPECT_EQ(parts.weights, whole.weights);
      EXPECT_EQ(parts.iterations, whole.iterations);
      EXPECT_EQ(parts.batchLosses, whole.batchLosses);
      EXPECT_EQ(parts.epochLosses, whole.epochLosses);
      EXPECT_TRUE(parts == whole);
    }
}

// A Checkpoint takes a callback by its pointer.
TEST_F(ResumeTest, ACheckpointHasACallback) {
  callbacks::EarlyStopping stop({.monitor = "m", .restore_best_weights = true});
  Adds adds;
  (void)line().fit(
      batches(),
      {.epochs = 2, .verbose = 0, .callbacks = {falling(), stop, adds}});
  const Checkpoint written({{"stop", &stop}, {"adds", &adds}});
  written.write(folder / "c");
  callbacks::EarlyStopping again(
      {.monitor = "m", .restore_best_weights = true});
  Adds other;
  Checkpoint({{"stop", &again}, {"adds", &other}}).restore(folder / "c");
  EXPECT_EQ(again.best(), 0.4);
  EXPECT_EQ(again.best_epoch(), 1);
  EXPECT_EQ(again.get_state().tensors.size(), 2u);
  EXPECT_EQ(other.epochLosses, adds.epochLosses);
}

// A number that is better than none at first is written as one.
TEST_F(ResumeTest, InfiniteNumbersComeBack) {
  callbacks::ReduceLROnPlateau fresh({.monitor = "m"}), other({.monitor = "m"});
  callbacks::ModelCheckpoint best(folder / "best", {.monitor = "accuracy"});
  const Checkpoint checkpoint({{"best", &best}});
  checkpoint.write(folder / "c");
  checkpoint.restore(folder / "c");
  EXPECT_EQ(best.best(), -std::numeric_limits<double>::infinity());
}

// Who comes anew, or goes, is no obstacle.
TEST_F(ResumeTest, OtherCallbacksAfterARestart) {
  std::vector<std::string> warnings;
  const Logger around = set_logger([&](LogLevel level, std::string_view text) {
    if (level == LogLevel::WARNING)
      warnings.emplace_back(text);
  });
  callbacks::BackupAndRestore backup(folder / "b",
                                     {.delete_checkpoint = false});
  (void)line().fit(batches(),
                   {.epochs = 2,
                    .verbose = 0,
                    .callbacks = {backup, falling(), Adds(),
                                  callbacks::CSVLogger(folder / "log.csv")}});
  callbacks::EarlyStopping stop({.monitor = "m", .patience = 9});
  Adds adds;
  const History history =
      line().fit(batches(), {.epochs = 3,
                             .verbose = 0,
                             .callbacks = {falling(), stop, adds, backup}});
  set_logger(around);
  EXPECT_THAT(history.epoch, ElementsAre(2));
  EXPECT_EQ(adds.epochs, 3);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("callback 'EarlyStopping'")));
}

// The weights of the best epoch come back whoever ends the training.
TEST_F(ResumeTest, TheBestWeightsComeBackWhoeverEndsTheTraining) {
  for (const int64_t endsAfter : {2, 99}) {
    Model model = line();
    std::vector<float> best;
    callbacks::EarlyStopping stop({.monitor = "m",
                                   .patience = 50,
                                   .mode = callbacks::Mode::Min,
                                   .restore_best_weights = true});
    callbacks::LambdaCallback ends({.on_epoch_end = [&](int64_t epoch, Logs &) {
      if (epoch == 1)
        best.push_back(model.get_weights()[0].item<float>());
      if (epoch == endsAfter)
        model.stop_training();
    }});
    (void)model.fit(
        batches(),
        {.epochs = 4, .verbose = 0, .callbacks = {falling(), stop, ends}});
    EXPECT_THAT(best, ElementsAre(model.get_weights()[0].item<float>()));
    EXPECT_EQ(stop.stopped_epoch(), std::nullopt);
  }
}

// With averages in the model between epochs, too.
TEST_F(ResumeTest, WeightsThatAreAveragesBetweenEpochs) {
  auto fit = [&](int64_t crashIn) {
    Sequential model({Input({1}), layers::Dense(1)});
    model.compile(
        {.optimizer = optimizers::SGD(
             {.learning_rate = 0.05, .common = {.ema_momentum = 0.9}}),
         .loss = "mse"});
    model.set_weights({tensor({{0.f}}), tensor({0.f})});
    callbacks::LambdaCallback crash(
        {.on_epoch_begin = [=](int64_t epoch, Logs &) {
          if (epoch == crashIn)
            throw Crash();
        }});
    (void)model.fit(
        batches(),
        {.epochs = 3,
         .verbose = 0,
         .callbacks = {callbacks::SwapEMAWeights({.swap_on_epoch = true}),
                       callbacks::BackupAndRestore(folder / "b"), crash}});
    return model.get_weights()[0].item<float>();
  };
  const float whole = fit(-1);
  EXPECT_THROW(fit(2), Crash);
  EXPECT_EQ(fit(-1), whole);
}

// A kill while it was written or removed leaves what is no backup.
TEST_F(ResumeTest, AFolderWithoutAnIndexIsNoBackup) {
  for (const char *remains : {"device-0.1-2-3.safetensors", ""}) {
    fs::create_directories(folder / "b" / "chief");
    if (*remains)
      write(std::string("b/chief/") + remains, "half");
    const History history = line().fit(
        batches(), {.epochs = 2,
                    .verbose = 0,
                    .callbacks = {callbacks::BackupAndRestore(folder / "b")}});
    EXPECT_THAT(history.epoch, ElementsAre(0, 1));
    EXPECT_FALSE(fs::exists(folder / "b"));
  }
}

// A process that only evaluates takes the newest checkpoint, and the next one
// when that comes.
TEST_F(ResumeTest, ASidecarEvaluatorFollowsCheckpoints) {
  const Model model = line();
  CheckpointManager manager(
      Checkpoint({{"model", model}, {"optimizer", model.optimizer()}}),
      folder / "checkpoints");
  std::vector<double> wanted;
  auto train = [&] {
    model.fit(batches(), {.epochs = 1, .verbose = 0});
    wanted.push_back(model.evaluate(batches(), {.verbose = 0}).at("mae"));
    manager.save();
  };
  train();
  train();
  std::vector<double> got;
  struct Note : callbacks::Callback {
    std::function<void(double)> take;
    void on_test_end(Logs &logs) override { take(logs.at("mae")); }
  };
  auto note = std::make_shared<Note>();
  note->take = [&](double number) {
    got.push_back(number);
    if (got.size() == 1)
      train();
  };
  // Its variables come with the first batch.
  Sequential lazy({layers::Dense(1)});
  lazy.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mae"}});
  const Logs last =
      SidecarEvaluator(lazy, batches(), folder / "checkpoints",
                       {.max_evaluations = 3, .callbacks = {note}})
          .start();
  ASSERT_EQ(wanted.size(), 3u);
  EXPECT_THAT(got, ElementsAre(testing::DoubleNear(wanted[1], 1e-6),
                               testing::DoubleNear(wanted[2], 1e-6)));
  EXPECT_NEAR(last.at("mae"), wanted[2], 1e-6);
  EXPECT_THAT(
      [&] {
        try {
          SidecarEvaluator(line(), batches(), folder, {.steps = 0});
          return std::string();
        } catch (const Error &error) {
          return std::string(error.what());
        }
      }(),
      HasSubstr("expected steps to be above 0"));
}

} // namespace
