// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Estimator: training and evaluation of a function that makes a model, with
// checkpoints and summaries in a folder, as TensorFlow's estimators had it, by
// one process or by those that TF_CONFIG names.
#pragma once

#include "meshloom/NN/Models/Model.h"

#include <filesystem>
#include <functional>
#include <map>

namespace meshloom::estimator {

/// The purposes of a model.
enum class ModeKeys : uint8_t {
  TRAIN, ///< training
  EVAL   ///< evaluation
};

/// The result of a model function.
struct EstimatorSpec {
  ModeKeys mode = ModeKeys::TRAIN; ///< as it was given
  Tensor loss;                     ///< of the batch, a scalar
  OptimizerOrName optimizer = {};  ///< makes the loss small, in training
  /// Metrics that were updated, by what they are called in evaluation.
  std::map<std::string, metrics::Metric> eval_metric_ops = {};
};

/// Computes the loss of a batch by layers that it makes:
///
///   auto model_fn = [](const Tensor &features, const Tensor &labels,
///                      estimator::ModeKeys mode) {
///     layers::Dense layer(1);
///     Tensor logits = layer(features);
///     Tensor loss = losses::MeanSquaredError()(labels, logits);
///     return estimator::EstimatorSpec{
///         .mode = mode,
///         .loss = loss,
///         .optimizer = optimizers::Adagrad({.learning_rate = 0.05})};
///   };
///
/// It is called once for each shape of batches; the variables that it makes are
/// the same in each call, by the order in which they are made. Throws
/// meshloom::Error from the call that makes others.
using ModelFunction = std::function<EstimatorSpec(
    const Tensor &features, const Tensor &labels, ModeKeys mode)>;

/// The number of training steps before this one, an i64 variable, for model
/// functions: the rate of a schedule, a probability that falls. Throws
/// meshloom::Error outside of a model function.
DVariable get_global_step();

/// A function that returns a dataset of batches of features and labels.
using InputFunction = std::function<data::AnyDataset()>;

/// How an Estimator runs.
struct RunConfig {
  /// Where checkpoints and summaries are. Empty: the "model_dir" of TF_CONFIG,
  /// else a new temporary folder, which is warned of.
  std::filesystem::path model_dir = {};
  /// The seed that set_random_seed gets before a model is made.
  std::optional<uint32_t> tf_random_seed = std::nullopt;
  /// A summary of the loss after so many steps; 0: none.
  int64_t save_summary_steps = 100;
  /// A checkpoint after so many steps; given, `save_checkpoints_secs` counts no
  /// more.
  std::optional<int64_t> save_checkpoints_steps = std::nullopt;
  /// A checkpoint after so many seconds.
  double save_checkpoints_secs = 600;
  /// So many checkpoints are kept; 0: all.
  int64_t keep_checkpoint_max = 5;
  /// A line with the loss after so many steps; 0: none.
  int64_t log_step_count_steps = 100;
};

/// A model function and the folder of its checkpoints, "model.ckpt-STEP". A
/// handle: a copy is the same estimator.
///
/// Where TF_CONFIG has a cluster, its processes train one model together. With
/// parameter servers (job "ps") the chief has the workers run steps, as
/// ParameterServerStrategy does: workers and ps serve until the chief has gone
/// (MESHLOOM_COORDINATOR_TIMEOUT, else 10 seconds), and take no data of their
/// own. Without, chief and workers train as in a MultiWorkerMirroredStrategy,
/// and so do processes that mesh-launch started. In the scope of a strategy
/// that is the one.
class Estimator {
public:
  /// Throws meshloom::Error if a number is negative, if TF_CONFIG is malformed,
  /// or if it has parameter servers and no chief.
  explicit Estimator(ModelFunction model_fn, RunConfig config = {});

  /// Trains until the input ends, or global_step is `max_steps`; from the
  /// newest checkpoint, where there is one. Writes one at the beginning of a
  /// training that had none, and at its end. Gives global_step: the number of
  /// steps so far; of a process that serves others 0. Throws meshloom::Error as
  /// fit and Checkpoint::restore, and in an evaluator.
  int64_t
  train(const InputFunction &input_fn,
        std::optional<int64_t> max_steps = std::nullopt,
        std::source_location where = std::source_location::current()) const;
  /// "loss", metrics and "global_step" of the newest checkpoint, on all of the
  /// input or `steps` batches; they are summaries in the folder "eval", or
  /// "eval_NAME". Throws meshloom::Error if there is no checkpoint.
  std::map<std::string, double>
  evaluate(const InputFunction &input_fn,
           std::optional<int64_t> steps = std::nullopt,
           const std::string &name = "") const;
  /// Where checkpoints are.
  const std::filesystem::path &model_dir() const;
  /// The given configuration, with the folder.
  const RunConfig &config() const;

  struct State;
  /// For train_and_evaluate.
  const std::shared_ptr<State> &internal() const { return state; }

private:
  std::shared_ptr<State> state;
};

/// The data and steps of the training in train_and_evaluate.
struct TrainSpec {
  InputFunction input_fn;                          ///< the examples
  std::optional<int64_t> max_steps = std::nullopt; ///< see Estimator::train
};

/// The data and steps of the evaluation in train_and_evaluate.
struct EvalSpec {
  InputFunction input_fn;                      ///< the examples
  std::optional<int64_t> steps = std::nullopt; ///< see Estimator::evaluate
  std::string name = "";                       ///< see Estimator::evaluate
  /// A checkpoint that comes earlier after the last evaluation is passed over.
  double throttle_secs = 0;
};

/// Trains, and evaluates each checkpoint but the first and, in any case, the
/// last; gives the numbers of that. A later call goes on from the folder.
///
/// In a cluster an evaluator, a task of its own, does the second: it waits for
/// checkpoints and evaluates the newest until it has seen that of `max_steps`,
/// or the last one of a training that has ended. Chief and workers train,
/// workers and ps serve (see Estimator); these return no numbers.
std::map<std::string, double> train_and_evaluate(const Estimator &estimator,
                                                 const TrainSpec &train_spec,
                                                 const EvalSpec &eval_spec);

} // namespace meshloom::estimator
