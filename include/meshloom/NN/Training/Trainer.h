// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trainer: what a Model is trained, evaluated and used by: compile, fit,
// evaluate, predict.
//
//   Model model = Sequential({layers::Dense(256, {.activation = "relu"}),
//                             layers::Dense(10)});
//   model.compile({.optimizer = "adam",
//                  .loss = losses::SparseCategoricalCrossentropy(
//                      {.from_logits = true}),
//                  .metrics = {"accuracy"}});
//   History history = model.fit(train.batch(32), {.epochs = 2});
//   Logs result = model.evaluate(test.batch(32));
//
// A step is one compiled program on the whole batch, which is cut over the axis
// of the strategy's mesh (or the axis of your own mesh that compile is
// told): that is data parallel training, and its numbers are those of one
// device, however many examples the last batch has. Loss and metrics are summed
// on the devices and read when they are shown.
#pragma once

#include "meshloom/NN/Layers/Layer.h"
#include "meshloom/NN/Losses.h"
#include "meshloom/NN/Metrics.h"
#include "meshloom/NN/Optimizers.h"
#include "meshloom/NN/Training/Callback.h"
#include "meshloom/NN/Training/TrainingData.h"

namespace meshloom {

namespace detail {
class Training;
} // namespace detail

/// The optimizer that compile takes, by value or by name ("adam").
class OptimizerOrName {
public:
  /// None: a model that only predicts or is evaluated.
  OptimizerOrName() = default;
  /// By value.
  OptimizerOrName(const optimizers::Optimizer &optimizer)
      : optimizer(optimizer) {}
  /// By name. Throws meshloom::Error that lists the closest names.
  OptimizerOrName(const char *name, Where where = Where::current())
      : OptimizerOrName(
            std::string(textOrThrow(name, "the name of an optimizer", where)),
            where) {}
  /// By name. Throws meshloom::Error that lists the closest names.
  OptimizerOrName(const std::string &name, Where where = Where::current())
      : optimizer(
            detail::atLine(where, [&] { return optimizers::get(name); })) {}

  /// Which it is, or none.
  std::optional<optimizers::Optimizer> optimizer;
};

/// One loss for all outputs of a model, or one for each.
class LossOfOutputs {
public:
  /// None: only what layers add.
  LossOfOutputs() = default;
  /// The same for all outputs: an id, a Loss, or your own function.
  template <typename L>
    requires std::constructible_from<losses::Loss, L>
  LossOfOutputs(L &&loss, Where where = Where::current())
      : shared(detail::atLine(
            where, [&] { return losses::Loss(std::forward<L>(loss)); })) {}
  /// For each output, in their order: {"mse", "mae"}.
  LossOfOutputs(std::initializer_list<losses::Loss> losses) : inOrder(losses) {}
  /// The same.
  LossOfOutputs(std::vector<losses::Loss> losses)
      : inOrder(std::move(losses)) {}
  /// By the names of the outputs: {{"price", "mse"}, {"kind", own}}.
  LossOfOutputs(
      std::initializer_list<std::pair<const std::string, losses::Loss>> losses)
      : byName(losses) {}
  /// The same.
  LossOfOutputs(std::map<std::string, losses::Loss> losses)
      : byName(std::move(losses)) {}

  losses::Loss shared;                        ///< empty, or for all
  std::vector<losses::Loss> inOrder;          ///< empty, or in order
  std::map<std::string, losses::Loss> byName; ///< empty, or by name
};

/// The metrics of the outputs of a model: the same for all of them, or a list
/// for each.
class MetricsOfOutputs {
public:
  /// None.
  MetricsOfOutputs() = default;
  /// The metrics of all outputs. If a model has several outputs, each has its
  /// own, made like these.
  MetricsOfOutputs(std::initializer_list<metrics::Metric> metrics)
      : shared(metrics) {}
  /// The same.
  MetricsOfOutputs(std::vector<metrics::Metric> metrics)
      : shared(std::move(metrics)) {}
  /// For each output, in their order.
  MetricsOfOutputs(std::vector<std::vector<metrics::Metric>> metrics)
      : inOrder(std::move(metrics)) {}
  /// By the names of the outputs.
  MetricsOfOutputs(std::map<std::string, std::vector<metrics::Metric>> metrics)
      : byName(std::move(metrics)) {}

  std::vector<metrics::Metric> shared;               ///< for all
  std::vector<std::vector<metrics::Metric>> inOrder; ///< or in order
  /// Or by name.
  std::map<std::string, std::vector<metrics::Metric>> byName;
};

/// How much the losses of a model's outputs count.
class LossWeights {
public:
  /// 1 each.
  LossWeights() = default;
  /// For each output, in their order: {1, 0.5}.
  LossWeights(std::initializer_list<double> weights) : inOrder(weights) {}
  /// The same.
  LossWeights(std::vector<double> weights) : inOrder(std::move(weights)) {}
  /// By the names of the outputs: {{"price", 1}, {"kind", 0.5}}; others count
  /// 1.
  LossWeights(
      std::initializer_list<std::pair<const std::string, double>> weights)
      : byName(weights) {}
  /// The same.
  LossWeights(std::map<std::string, double> weights)
      : byName(std::move(weights)) {}

  std::vector<double> inOrder;          ///< empty, or in order
  std::map<std::string, double> byName; ///< empty, or by name
};

/// The options of compile.
struct TrainingOptions {
  /// Changes the weights; needed by fit.
  OptimizerOrName optimizer = {};
  /// The loss to minimise; needed by fit, unless layers add losses.
  LossOfOutputs loss = {};
  /// Shown beside the loss.
  MetricsOfOutputs metrics = {};
  /// The loss is the sum of the outputs' losses times these.
  LossWeights loss_weights = {};
  /// Like metrics, but examples count by their weights.
  MetricsOfOutputs weighted_metrics = {};
  /// So many steps are one call of one compiled loop. Callbacks of batches are
  /// called once in so many.
  int64_t steps_per_execution = 1;
  /// The axis of the mesh that batches are cut over. Default: that of the
  /// strategy; of your own mesh "batch" where it has that axis, else its
  /// only axis, else none.
  std::optional<std::string> batch_axis = std::nullopt;
  /// Steps fail where a value is nan or infinite, naming the op and its layer.
  /// Costs time.
  bool check_numerics = false;
};

/// The options of fit.
struct FitOptions {
  /// The examples a batch, for arrays; default 32. A dataset has batches
  /// already.
  std::optional<int64_t> batch_size = std::nullopt;
  int64_t epochs = 1; ///< the number of the last epoch, from 1
  int verbose = 1;    ///< 0: silent, 1: a bar, 2: a line an epoch
  std::vector<callbacks::CallbackRef> callbacks = {}; ///< in this order
  double validation_split = 0; ///< of arrays, this part at the end validates
  TrainingData validation_data = {}; ///< what an epoch is evaluated on
  bool shuffle = true;               ///< arrays, in every epoch anew
  /// The weights of examples, by their label; for models with one output.
  std::map<int64_t, double> class_weight = {};
  int64_t initial_epoch = 0; ///< the first one, from 0
  /// Batches an epoch; default: all there are.
  std::optional<int64_t> steps_per_epoch = std::nullopt;
  /// Batches an evaluation; default: all there are.
  std::optional<int64_t> validation_steps = std::nullopt;
  /// The examples a batch in evaluation, for arrays; default: batch_size.
  std::optional<int64_t> validation_batch_size = std::nullopt;
  int64_t validation_freq = 1; ///< an evaluation every so many epochs
  /// The seed by which the order of arrays is shuffled.
  uint64_t seed = 0;
  /// So many calls' batches (with steps_per_execution a call has several) are
  /// read and brought to the devices while a step runs; 0: none. Results are
  /// the same. A dataset, or a generator, is read so far ahead.
  int64_t prefetch = 1;
};

/// The options of evaluate.
struct EvaluateOptions {
  /// The examples a batch, for arrays; default 32.
  std::optional<int64_t> batch_size = std::nullopt;
  int verbose = 1; ///< 0: silent, 1: a bar, 2: a line
  /// Batches; default: all there are.
  std::optional<int64_t> steps = std::nullopt;
  std::vector<callbacks::CallbackRef> callbacks = {}; ///< in this order
  /// So many batches are read and brought to the devices while a step runs; 0:
  /// none. Results are the same.
  int64_t prefetch = 1;
};

/// The options of predict.
using PredictOptions = EvaluateOptions;

/// The options of train_on_batch and test_on_batch.
struct OnBatchOptions {
  Tensor sample_weight = {};                   ///< of each example
  std::map<int64_t, double> class_weight = {}; ///< by labels; for training
  /// Says whether the numbers are of this batch alone, or of all since they
  /// were reset.
  bool reset_metrics = true;
};

/// Base of Model: a layer that can be trained. Functions throw meshloom::Error,
/// before any weight has changed, if the model was not compiled, if batches do
/// not fit it (an unbatched dataset, labels of another shape or type), or if
/// options contradict each other. Calls on one model come from one thread at a
/// time.
class Trainer : public Layer {
public:
  /// Says how the model is trained. Again: metrics and compiled steps begin
  /// anew. The strategy in whose scope it is called is that of training.
  /// Messages about losses and metrics name the line of this call. Throws
  /// meshloom::Error if a name is not known, or a number is out of range.
  void compile(TrainingOptions options, Where where = Where::current());
  /// Returns whether compile was called.
  bool compiled() const;

  /// Trains for some epochs. Where a dataset ends in the middle of an epoch, a
  /// warning says so, and that epoch is the last one. Where the optimizer keeps
  /// averages of the weights (ema_momentum), these are the weights at the end.
  History fit(const TrainingData &data, FitOptions options = {},
              Where where = Where::current()) const;
  /// Trains on arrays: fit({x, y}, options).
  template <detail::Arrays X, detail::Arrays Y>
  History fit(const X &x, const Y &y, FitOptions options = {},
              Where where = Where::current()) const {
    return fit(detail::atLine(where, [&] { return TrainingData(x, y); }),
               std::move(options), where);
  }

  /// Loss and metrics, by name.
  Logs evaluate(const TrainingData &data, EvaluateOptions options = {},
                Where where = Where::current()) const;
  /// Evaluates on arrays.
  template <detail::Arrays X, detail::Arrays Y>
  Logs evaluate(const X &x, const Y &y, EvaluateOptions options = {},
                Where where = Where::current()) const {
    return evaluate(detail::atLine(where, [&] { return TrainingData(x, y); }),
                    std::move(options), where);
  }

  /// The model's outputs for all examples, a host tensor; needs no compile.
  /// Throws meshloom::Error, which names the line of this call, if inputs do
  /// not fit, or the model has several outputs.
  Tensor predict(const TrainingData &data, PredictOptions options = {},
                 Where where = Where::current()) const;
  /// Each of its outputs.
  std::vector<Tensor> predict_many(const TrainingData &data,
                                   PredictOptions options = {},
                                   Where where = Where::current()) const;

  /// One step on one batch; the numbers of it.
  template <detail::Arrays X, detail::Arrays Y>
  Logs train_on_batch(const X &x, const Y &y, OnBatchOptions options = {},
                      Where where = Where::current()) const {
    return detail::atLine(where, [&] {
      return onBatch(true, data::detail::elementOf(std::pair<X, Y>(x, y)),
                     options, where);
    });
  }
  /// The numbers of one batch.
  template <detail::Arrays X, detail::Arrays Y>
  Logs test_on_batch(const X &x, const Y &y, OnBatchOptions options = {},
                     Where where = Where::current()) const {
    return detail::atLine(where, [&] {
      return onBatch(false, data::detail::elementOf(std::pair<X, Y>(x, y)),
                     options, where);
    });
  }
  /// The model's outputs for a batch.
  template <detail::Arrays X>
  Tensor predict_on_batch(const X &x, Where where = Where::current()) const {
    return detail::atLine(where, [&] {
      return predictOnBatch(data::detail::elementOf(x), where);
    });
  }

  /// The one it was compiled with. Throws meshloom::Error if there is none.
  const optimizers::Optimizer &optimizer() const;
  /// The learning rate that the next step has.
  double learning_rate() const;
  /// Sets it, without compiling the step again. Throws meshloom::Error if a
  /// schedule computes it, or if it is not finite.
  void set_learning_rate(double rate, Where where = Where::current()) const;
  /// Ends training after this batch; for callbacks.
  void stop_training() const;
  /// Metrics and the mean of the loss begin anew.
  void reset_metrics() const;
  /// Names of loss and metrics, as logs have them. Throws meshloom::Error if
  /// the model has seen no batch yet.
  std::vector<std::string> metrics_names() const;
  /// The arguments of compile.
  const TrainingOptions &compile_options() const;
  /// The same as JSON, without the optimizer: what a saved model has. Throws
  /// meshloom::Error if a loss or a metric is a function without a name.
  nn::Config compile_config() const;
  /// Compiles by what compile_config gave.
  void compile_from_config(const nn::Config &config, OptimizerOrName optimizer);
  /// Number of the batches that weights were changed by.
  int64_t steps_taken() const;
  /// The training steps that were compiled, one for each kind of batch: which
  /// collectives they have, how values are laid out (see ConcreteFunction).
  std::vector<ConcreteFunction> train_functions() const;

  /// For Meshloom's own layers.
  const std::shared_ptr<detail::Training> &training() const { return state; }

protected:
  /// An empty one.
  Trainer() = default;
  /// A handle of an implementation.
  explicit Trainer(std::shared_ptr<LayerImpl> impl);

private:
  detail::Training &trained(const char *function) const;
  Logs onBatch(bool trains, const data::detail::Element &batch,
               const OnBatchOptions &options, Where where) const;
  Tensor predictOnBatch(const data::detail::Element &batch, Where where) const;

  std::shared_ptr<detail::Training> state;
};

} // namespace meshloom
