// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile, fit, evaluate and predict, see Trainer.h: the loops of the host
// around compiled steps.
#include "Training.h"

#include "CallbackList.h"
#include "Epochs.h"

#include "meshloom/API/HostTensor.h"
#include "meshloom/API/Logging.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/API/Processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace meshloom {
using namespace detail;
using callbacks::CallbackList;
using data::detail::HostArray;

namespace {

/// Rows [begin, end) of arrays.
Element rowsOf(const Element &arrays, int64_t begin, int64_t end) {
  Element part{{}, arrays.skeleton};
  part.values.reserve(arrays.values.size());
  for (const HostArray &value : arrays.values)
    part.values.push_back(value.rows(begin, end));
  return part;
}

int64_t rowCount(const Element &arrays, std::string_view function) {
  for (const HostArray &value : arrays.values)
    if (value.shape().empty() ||
        value.shape().front() != arrays.values.front().shape().front())
      refuseTraining(
          function,
          fmt::format("expected arrays with equally many rows, got {}",
                      arrays.typeText()));
  if (arrays.values.empty())
    refuseTraining(function, "expected examples, got no array");
  return arrays.values.front().shape().front();
}

[[noreturn]] void refuseBatchSize(std::string_view function) {
  refuseTraining(function, "batch_size is for arrays: the elements of a "
                           "dataset are batches already");
}

/// The batches of what a function is given.
AnyDataset batchesOf(const TrainingData &data, std::string_view function,
                     std::optional<int64_t> batchSize,
                     std::optional<uint64_t> shuffleSeed = std::nullopt) {
  if (data.empty())
    refuseTraining(function, "expected a dataset or arrays, got none");
  if (data.batches) {
    if (batchSize)
      refuseBatchSize(function);
    return *data.batches;
  }
  const int64_t rows = rowCount(*data.arrays, function);
  const int64_t size = batchSize.value_or(32);
  if (size < 1)
    refuseTraining(
        function,
        fmt::format("expected a batch_size of 1 or more, got {}", size));
  data::detail::SourcePtr source = data::detail::fromSlices(*data.arrays);
  if (shuffleSeed && rows > 1)
    source = data::detail::shuffle(std::move(source), rows, *shuffleSeed, true);
  return AnyDataset(data::detail::batch(std::move(source), size, false));
}

/// The batches, and who runs steps on them. `steps`: how many of them, which
/// `option` says.
Feed feedOf(TrainingData &data, Training &training, std::string_view function,
            std::optional<int64_t> batchSize, std::optional<int64_t> steps,
            std::string_view option,
            std::optional<uint64_t> shuffleSeed = std::nullopt) {
  if (data.workers) {
    if (batchSize)
      refuseBatchSize(function);
    if (training.workers) {
      if (!steps)
        refuseTraining(function,
                       fmt::format("workers make the batches, each from a "
                                   "dataset of its own: say how many to take, "
                                   "by {}",
                                   option));
      return feedOfWorkers(training, *data.workers, function);
    }
    const Strategy &strategy = training.strategy;
    if (!data.workers->here || strategy.num_replicas_in_sync() != 1 ||
        num_clients() != 1)
      refuseTraining(function,
                     fmt::format("datasets of workers are for models that are "
                                 "compiled in the scope of a "
                                 "ParameterServerStrategy, this one is {}'s: "
                                 "give the dataset of all its batches",
                                 strategy.name()));
    data.batches = data.workers->here(InputContext());
  }
  AnyDataset batches = batchesOf(data, function, batchSize, shuffleSeed);
  // Arrays and generators are the same in all workers.
  if (data.batches && !data.isGenerator)
    if (data::detail::SourcePtr shared = batchesOfAllWorkers(
            *training.strategy.internal(), batches.source());
        shared != batches.source())
      batches = AnyDataset(std::move(shared));
  return {std::move(batches), training.runner};
}

/// Batches an epoch, where that is known.
std::optional<int64_t> countOf(const AnyDataset &batches,
                               std::optional<int64_t> steps) {
  if (steps)
    return steps;
  const int64_t cardinality = batches.cardinality();
  return cardinality >= 0 ? std::optional(cardinality) : std::nullopt;
}

void expectFinite(const AnyDataset &batches, std::optional<int64_t> steps,
                  std::string_view function, std::string_view option) {
  if (steps && *steps < 1)
    refuseTraining(function, fmt::format("expected {} to be 1 or more, got {}",
                                         option, *steps));
  if (!steps && batches.cardinality() == data::infinite_cardinality)
    refuseTraining(function,
                   fmt::format("the dataset repeats without end: say how many "
                               "batches to take, by {}",
                               option));
}

/// `run(step, batch)` starts the work on a batch, and `finish(step)` reads what
/// came out.
template <typename Run, typename Finish>
void forEachBatch(Epochs epoch, int64_t ahead, std::optional<int64_t> steps,
                  std::string_view function, BatchesAhead::Place place,
                  Run &&run, Finish &&finish) {
  epoch.begin();
  BatchesAhead batches(epoch, 1, ahead, std::move(place));
  int64_t done = 0;
  for (; std::optional<PlacedBatches> batch = batches.next(); ++done) {
    run(done, *batch);
    batches.fill();
    finish(done);
  }
  if (epoch.endedEarly)
    log(LogLevel::WARNING,
        fmt::format("[{}] the dataset ended after {} of {} batches", function,
                    done, *steps));
  if (done == 0)
    refuseTraining(function, "expected batches, got an empty dataset");
}

/// Tells the model's training who its callbacks are, while it lives.
struct CallbacksOfTraining {
  CallbacksOfTraining(Training &training, const CallbackList &callbacks)
      : training(training) {
    training.callbacks = &callbacks;
  }
  ~CallbacksOfTraining() { training.callbacks = nullptr; }
  CallbacksOfTraining(const CallbacksOfTraining &) = delete;
  CallbacksOfTraining &operator=(const CallbacksOfTraining &) = delete;
  Training &training;
};

/// Returns whether one of the user's callbacks does.
bool showsProgress(const std::vector<callbacks::CallbackRef> &callbacks) {
  return std::ranges::any_of(callbacks, [](const callbacks::CallbackRef &one) {
    return dynamic_cast<callbacks::ProgbarLogger *>(one.get()) != nullptr;
  });
}

Logs evaluateWith(Training &training, CallbackList &callbacks, Epochs batches,
                  StepRunner &runner, int64_t ahead,
                  std::optional<int64_t> steps, std::string_view function) {
  Logs none;
  training.reset();
  callbacks.call(&callbacks::Callback::on_test_begin, none);
  forEachBatch(
      std::move(batches), ahead, steps, function,
      [&](std::span<const Element> group) {
        training.build(group.front(), function);
        return runner.place(group, function);
      },
      [&](int64_t step, const PlacedBatches &batch) {
        callbacks.call(&callbacks::Callback::on_test_batch_begin, step, none);
        runner.test(batch);
      },
      [&](int64_t step) {
        Logs logs([&training] { return training.read(); });
        callbacks.call(&callbacks::Callback::on_test_batch_end, step, logs);
      });
  Logs logs(training.read());
  callbacks.call(&callbacks::Callback::on_test_end, logs);
  return logs;
}

} // namespace

//===-- compile -----------------------------------------------------------===//

Trainer::Trainer(std::shared_ptr<LayerImpl> impl)
    : Layer(std::move(impl)), state(std::make_shared<Training>(*this)) {}

void Trainer::compile(TrainingOptions options, Where where) {
  if (!state)
    refuseTraining("compile", "expected a model, got an empty handle");
  detail::atLine(where, [&] { state->compile(std::move(options), where); });
}

bool Trainer::compiled() const {
  return state && state->isCompiled;
}

Training &Trainer::trained(const char *function) const {
  if (!state)
    refuseTraining(function, "expected a model, got an empty handle");
  if (!state->isCompiled)
    refuseTraining(function, "the model is not compiled: call compile first, "
                             "with an optimizer and a loss");
  return *state;
}

const optimizers::Optimizer &Trainer::optimizer() const {
  Training &training = trained("optimizer");
  if (!training.options.optimizer.optimizer)
    refuseTraining("optimizer", "the model was compiled without an optimizer");
  return *training.options.optimizer.optimizer;
}

double Trainer::learning_rate() const {
  return optimizer().current_learning_rate();
}
void Trainer::set_learning_rate(double rate, Where where) const {
  optimizer().set_learning_rate(rate, where);
}
void Trainer::stop_training() const {
  trained("stop_training").stops = true;
}
void Trainer::reset_metrics() const {
  trained("reset_metrics").reset();
}
const TrainingOptions &Trainer::compile_options() const {
  return trained("compile_options").options;
}
int64_t Trainer::steps_taken() const {
  return trained("steps_taken").steps;
}
std::vector<ConcreteFunction> Trainer::train_functions() const {
  return trained("train_functions").trainFunctions();
}
std::vector<std::string> Trainer::metrics_names() const {
  std::vector<std::string> names = trained("metrics_names").names();
  if (names.empty())
    refuseTraining("metrics_names", "the model has seen no batch yet");
  return names;
}

//===-- fit ---------------------------------------------------------------===//

static void expectPrefetch(int64_t prefetch, std::string_view function) {
  if (prefetch < 0)
    refuseTraining(function,
                   fmt::format("expected prefetch to be 0 batches or more, got "
                               "{}",
                               prefetch));
}

static void expectFitOptions(const FitOptions &options) {
  auto expect = [](bool holds, std::string_view option, auto value,
                   std::string_view expected) {
    if (!holds)
      refuseTraining("fit", fmt::format("expected {} to be {}, got {}", option,
                                        expected, value));
  };
  expect(options.epochs >= 0, "epochs", options.epochs, "0 or more");
  expect(options.initial_epoch >= 0, "initial_epoch", options.initial_epoch,
         "0 or more");
  expect(options.verbose >= 0 && options.verbose <= 2, "verbose",
         options.verbose, "0, 1 or 2");
  expectPrefetch(options.prefetch, "fit");
  expect(options.validation_freq >= 1, "validation_freq",
         options.validation_freq, "1 or more");
  expect(options.validation_split >= 0 && options.validation_split < 1,
         "validation_split", options.validation_split,
         "at least 0 and less than 1");
  if (options.validation_split > 0 && !options.validation_data.empty())
    refuseTraining("fit", "expected validation_split or validation_data, got "
                          "both");
}

/// Takes the last part of arrays for validation.
static std::optional<TrainingData> splitOff(TrainingData &data, double part) {
  if (!data.arrays)
    refuseTraining("fit", "validation_split is for arrays: give a dataset's "
                          "validation_data");
  const int64_t rows = rowCount(*data.arrays, "fit");
  const auto first = int64_t(std::floor(double(rows) * (1 - part)));
  if (first == 0 || first == rows)
    refuseTraining("fit", fmt::format("a validation_split of {} of {} examples "
                                      "leaves none for one side",
                                      part, rows));
  Element whole{{}, data.arrays->skeleton};
  for (const HostArray &value : data.arrays->values)
    whole.values.push_back(value.inMemory());
  TrainingData validation;
  validation.arrays = rowsOf(whole, first, rows);
  data.arrays = rowsOf(whole, 0, first);
  return validation;
}

/// Returns the validation data of a call of fit, if it has any: the user's, or
/// the last part of `data`, which loses it.
static std::optional<TrainingData> validationOf(TrainingData &data,
                                                const FitOptions &options) {
  if (!options.validation_data.empty())
    return options.validation_data;
  if (options.validation_split > 0)
    return splitOff(data, options.validation_split);
  return std::nullopt;
}

/// Returns the batches that fit trains on, which end.
static Feed feedToTrain(TrainingData &data, Training &training,
                        const FitOptions &options) {
  Feed feed =
      feedOf(data, training, "fit", options.batch_size, options.steps_per_epoch,
             "steps_per_epoch",
             options.shuffle ? std::optional(options.seed) : std::nullopt);
  if (data.isGenerator && !options.steps_per_epoch)
    refuseTraining("fit", "a generator does not say how many batches it has: "
                          "give steps_per_epoch");
  expectFinite(feed.batches, options.steps_per_epoch, "fit", "steps_per_epoch");
  return feed;
}

/// Returns the batches that fit validates on, which end.
static Feed feedToValidate(TrainingData &data, Training &training,
                           const FitOptions &options) {
  std::optional<int64_t> size = options.validation_batch_size;
  if (!size && data.arrays)
    size = options.batch_size;
  Feed feed = feedOf(data, training, "fit", size, options.validation_steps,
                     "validation_steps");
  expectFinite(feed.batches, options.validation_steps, "fit",
               "validation_steps");
  return feed;
}

namespace {
/// The epochs of one call of fit.
class FitLoop {
public:
  FitLoop(Training &training, const FitOptions &options, const Feed &feed,
          bool isGenerator, const std::optional<Feed> &validation,
          CallbackList &callbacks)
      : training(training), options(options), feed(feed),
        validation(validation), callbacks(callbacks),
        epochs(feed.batches, options.steps_per_epoch, isGenerator) {}

  void run() {
    training.stops = false;
    prepare();
    training.resumed.reset();
    const CallbacksOfTraining registered(training, callbacks);
    callbacks.begin(none);
    resume();
    for (int64_t epoch = start.epoch;
         epoch < options.epochs && !training.stops && !epochs.endedEarly;
         ++epoch)
      runEpoch(epoch);
    if (start.epoch < options.epochs || training.resumed)
      training.finish();
    callbacks.call(&Callback::on_train_end, logs);
  }

private:
  using Callback = callbacks::Callback;

  /// Builds the model, and finds validation data that do not fit before
  /// anything is trained.
  void prepare() {
    if (!training.model.built())
      if (const Element *batch = epochs.first())
        training.build(*batch, "fit");
    if (!validation || options.epochs < options.validation_freq)
      return;
    firstValidation = epochsOfValidation();
    if (const Element *batch = firstValidation->first();
        batch && training.model.built())
      validation->runner->expectTestable(*batch);
  }

  /// Goes to the batch behind the last one that a callback restored.
  void resume() {
    start = training.resumed.value_or(Resumption{options.initial_epoch});
    if (!training.resumed)
      return;
    callbacks.restore(start.callbacks);
    lastBatch = epochs.skip(start.epoch - options.initial_epoch, start.batch);
    if (!start.numbers)
      lastBatch.reset();
  }

  void runEpoch(int64_t epoch) {
    const bool isFirst = epoch == start.epoch;
    const bool continuesNumbers = isFirst && lastBatch;
    training.reset();
    if (continuesNumbers)
      training.resumeEpoch(*lastBatch, *start.numbers);
    callbacks.call(&Callback::on_epoch_begin, epoch, none);
    epochs.begin();
    const int64_t skipped = isFirst ? start.batch : 0;
    const int64_t done = trainEpoch(epoch, skipped);
    if (done == 0 && isFirst)
      refuseTraining("fit", "expected batches, got an empty dataset");
    if (done == skipped && skipped > 0 && !continuesNumbers)
      return; // the resumed epoch had no batch left, and has no numbers
    if (epochs.endedEarly)
      warnOfEarlyEnd(epoch, done);
    logs = Logs(training.read());
    if (validation && (epoch + 1) % options.validation_freq == 0)
      validate();
    callbacks.call(&Callback::on_epoch_end, epoch, logs);
  }

  /// Trains on the batches of an epoch, of which `done` were taken before;
  /// returns how many were taken.
  int64_t trainEpoch(int64_t epoch, int64_t done) {
    BatchesAhead ahead(epochs, training.options.steps_per_execution,
                       options.prefetch, [&](std::span<const Element> group) {
                         training.build(group.front(), "fit");
                         return feed.runner->place(group, "fit");
                       });
    while (!training.stops) {
      const std::optional<PlacedBatches> batches = ahead.next();
      if (!batches)
        break;
      callbacks.call(&Callback::on_train_batch_begin, done, none);
      training.position = {epoch + 1, done + 1};
      feed.runner->train(*batches);
      training.position.reset();
      ahead.fill();
      done += batches->steps;
      Logs batchLogs([this] { return training.read(); });
      callbacks.call(&Callback::on_train_batch_end, done - 1, batchLogs);
    }
    return done;
  }

  void warnOfEarlyEnd(int64_t epoch, int64_t done) const {
    log(LogLevel::WARNING,
        fmt::format("[fit] the dataset ended after {} of {} batches of epoch "
                    "{}, which is the last one: fit takes steps_per_epoch * "
                    "epochs batches, so call repeat() on the dataset",
                    done, *options.steps_per_epoch, epoch + 1));
  }

  /// Adds the numbers of the validation data to the logs of the epoch.
  void validate() {
    Epochs batches = firstValidation
                         ? *std::exchange(firstValidation, std::nullopt)
                         : epochsOfValidation();
    const Logs numbers = evaluateWith(training, callbacks, std::move(batches),
                                      *validation->runner, options.prefetch,
                                      options.validation_steps, "fit");
    for (auto &[name, value] : numbers.values())
      logs.set("val_" + name, value);
  }
  Epochs epochsOfValidation() const {
    return {validation->batches, options.validation_steps, true};
  }

  Training &training;
  const FitOptions &options;
  const Feed &feed;
  const std::optional<Feed> &validation;
  CallbackList &callbacks;
  Epochs epochs;
  /// The validation data of which the first batch was read to check it.
  std::optional<Epochs> firstValidation;
  Resumption start;
  /// The last batch that a resumed epoch has seen, if its numbers go on.
  std::optional<Element> lastBatch;
  Logs none, logs; ///< `logs`: of the last epoch
};
} // namespace

History Trainer::fit(const TrainingData &input, FitOptions options,
                     std::source_location where) const {
  return detail::atLine(where, [&]() -> History {
    Training &training = trained("fit");
    expectFitOptions(options);
    TrainingData data = input;
    std::optional<TrainingData> validation = validationOf(data, options);
    const Feed feed = feedToTrain(data, training, options);
    std::optional<Feed> validationFeed;
    if (validation)
      validationFeed = feedToValidate(*validation, training, options);
    training.setClassWeights(options.class_weight);

    callbacks::HistoryCallback history;
    callbacks::ProgbarLogger progress;
    std::vector<callbacks::CallbackRef> list = options.callbacks;
    if (options.verbose > 0 && !showsProgress(list))
      list.emplace_back(progress);
    list.emplace_back(history);
    CallbackList callbacks(
        static_cast<const Model &>(*this), std::move(list),
        {.epochs = options.epochs,
         .steps = countOf(feed.batches, options.steps_per_epoch),
         .verbose = options.verbose,
         .validates = validation.has_value()});
    FitLoop(training, options, feed, data.isGenerator, validationFeed,
            callbacks)
        .run();
    return history.history();
  });
}

//===-- evaluate, predict, single batches ---------------------------------===//

Logs Trainer::evaluate(const TrainingData &input, EvaluateOptions options,
                       std::source_location where) const {
  return detail::atLine(where, [&]() -> Logs {
    Training &training = trained("evaluate");
    TrainingData data = input;
    const Feed feed = feedOf(data, training, "evaluate", options.batch_size,
                             options.steps, "steps");
    expectFinite(feed.batches, options.steps, "evaluate", "steps");
    expectPrefetch(options.prefetch, "evaluate");

    callbacks::ProgbarLogger progress;
    if (options.verbose > 0 && !showsProgress(options.callbacks))
      options.callbacks.emplace_back(progress);
    CallbackList callbacks(static_cast<const Model &>(*this),
                           std::move(options.callbacks),
                           {.steps = countOf(feed.batches, options.steps),
                            .verbose = options.verbose});
    return evaluateWith(training, callbacks,
                        {feed.batches, options.steps, true}, *feed.runner,
                        options.prefetch, options.steps, "evaluate");
  });
}

/// The outputs of a model for all examples.
static std::vector<Tensor> predictions(const Model &model, Training &training,
                                       const TrainingData &data,
                                       PredictOptions options,
                                       const std::source_location &where) {
  if (data.workers)
    refuseTraining("predict", "predictions are in the order of one dataset: "
                              "give that, not one of each worker");
  const AnyDataset batches = batchesOf(data, "predict", options.batch_size);
  expectFinite(batches, options.steps, "predict", "steps");
  expectPrefetch(options.prefetch, "predict");

  callbacks::ProgbarLogger progress;
  if (options.verbose > 0 && !showsProgress(options.callbacks))
    options.callbacks.emplace_back(progress);
  CallbackList callbacks(
      model, std::move(options.callbacks),
      {.steps = countOf(batches, options.steps), .verbose = options.verbose});
  using callbacks::Callback;

  struct Rows {
    DType type = DType::F32;
    Shape shape;
    std::vector<char> bytes;
  };
  std::vector<Rows> parts;
  Logs none;
  callbacks.call(&Callback::on_predict_begin, none);
  std::vector<Tensor> results;
  forEachBatch(
      {batches, options.steps, true}, options.prefetch, options.steps,
      "predict",
      [&](std::span<const Element> group) {
        training.build(group.front(), "predict", where);
        return PlacedBatches{{training.place(group.front(), "predict")}, 1};
      },
      [&](int64_t step, const PlacedBatches &batch) {
        callbacks.call(&Callback::on_predict_batch_begin, step, none);
        results = training.predict(batch.batches.front(), where);
      },
      [&](int64_t step) {
        parts.resize(results.size());
        for (size_t i = 0; i < results.size(); ++i) {
          const std::vector<char> bytes =
              bytesOf(replicateUnlessLocal(results[i]), "predict");
          Rows &rows = parts[i];
          const Shape &shape = results[i].shape();
          if (shape.empty())
            refuseTraining("predict", "expected the model to give a row for "
                                      "each example, got a scalar");
          if (rows.shape.empty()) {
            rows.type = results[i].dtype();
            rows.shape = shape;
          } else if (!std::equal(shape.begin() + 1, shape.end(),
                                 rows.shape.begin() + 1, rows.shape.end())) {
            refuseTraining("predict",
                           "the model gives rows of different shapes for "
                           "batches: predict them one by one");
          } else {
            rows.shape.front() += shape.front();
          }
          rows.bytes.insert(rows.bytes.end(), bytes.begin(), bytes.end());
        }
        callbacks.call(&Callback::on_predict_batch_end, step, none);
      });
  callbacks.call(&Callback::on_predict_end, none);
  std::vector<Tensor> whole;
  whole.reserve(parts.size());
  for (const Rows &rows : parts)
    whole.push_back(hostTensor(rows.type, rows.shape, rows.bytes));
  return whole;
}
std::vector<Tensor> Trainer::predict_many(const TrainingData &data,
                                          PredictOptions options,
                                          Where where) const {
  return detail::atLine(where, [&] {
    if (!state)
      refuseTraining("predict", "expected a model, got an empty handle");
    return predictions(static_cast<const Model &>(*this), *state, data,
                       std::move(options), where);
  });
}

static const Tensor &onlyOne(const std::vector<Tensor> &outputs) {
  if (outputs.size() != 1)
    refuseTraining("predict", fmt::format("the model has {} outputs: call "
                                          "predict_many",
                                          outputs.size()));
  return outputs.front();
}

Tensor Trainer::predict(const TrainingData &data, PredictOptions options,
                        Where where) const {
  return onlyOne(predict_many(data, std::move(options), where));
}

Tensor Trainer::predictOnBatch(const Element &batch, Where where) const {
  if (!state)
    refuseTraining("predict_on_batch", "expected a model, got an empty handle");
  state->build(batch, "predict_on_batch", where);
  return onlyOne(
      state->predict(state->place(batch, "predict_on_batch"), where));
}

Logs Trainer::onBatch(bool trains, const Element &element,
                      const OnBatchOptions &options,
                      std::source_location where) const {
  return detail::atLine(where, [&]() -> Logs {
    const char *const function = trains ? "train_on_batch" : "test_on_batch";
    Training &training = trained(function);
    training.build(element, function);
    StepBatch batch = training.place(element, function);
    if (options.sample_weight.defined())
      batch.weights =
          training
              .place(data::detail::elementOf(options.sample_weight), function)
              .x;
    if (options.reset_metrics)
      training.reset();
    if (trains) {
      training.setClassWeights(options.class_weight);
      training.runner->train({{batch}, 1});
    } else {
      training.runner->test({{batch}, 1});
    }
    return Logs(training.read());
  });
}

} // namespace meshloom
