// Estimator: training and evaluation of a function that makes a model, with
// checkpoints in a folder, as TensorFlow's estimators had it, on one process.
#pragma once

#include "meshloom/NN/Models/Model.h"

#include <filesystem>
#include <functional>
#include <map>

namespace meshloom::estimator {

/// What a model is made for.
enum class ModeKeys : uint8_t {
  TRAIN, ///< training
  EVAL   ///< evaluation
};

/// What a model function gives.
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

/// Gives a dataset whose elements are batches of features and labels.
using InputFunction = std::function<data::AnyDataset()>;

/// What an Estimator takes beside the model function.
struct EstimatorOptions {
  std::filesystem::path model_dir;    ///< where checkpoints are
  double save_checkpoints_secs = 600; ///< one after so many seconds
  int64_t keep_checkpoint_max = 5;    ///< so many are kept
};

/// A model function and the folder of its checkpoints, "model.ckpt-STEP".
class Estimator {
public:
  /// Throws meshloom::Error if the folder is empty, or a number negative.
  Estimator(ModelFunction model_fn, EstimatorOptions options);

  /// Trains until the input ends, or global_step is `max_steps`; from the
  /// newest checkpoint, where there is one. Writes one at the beginning of a
  /// training that had none, and at its end. Gives global_step: the number of
  /// steps so far. Throws meshloom::Error as fit and Checkpoint::restore.
  int64_t train(const InputFunction &input_fn,
                std::optional<int64_t> max_steps = std::nullopt) const;
  /// "loss", metrics and "global_step" of the newest checkpoint, on all of the
  /// input or `steps` batches. Throws meshloom::Error if there is no
  /// checkpoint.
  std::map<std::string, double>
  evaluate(const InputFunction &input_fn,
           std::optional<int64_t> steps = std::nullopt) const;
  /// As given.
  const std::filesystem::path &model_dir() const { return options.model_dir; }

private:
  ModelFunction modelFunction;
  EstimatorOptions options;
};

/// What train_and_evaluate trains on.
struct TrainSpec {
  InputFunction input_fn;                          ///< the examples
  std::optional<int64_t> max_steps = std::nullopt; ///< see Estimator::train
};

/// What train_and_evaluate evaluates on.
struct EvalSpec {
  InputFunction input_fn;                      ///< the examples
  std::optional<int64_t> steps = std::nullopt; ///< see Estimator::evaluate
};

/// Trains, then evaluates the newest checkpoint; gives the numbers of that. A
/// later call goes on from the folder.
std::map<std::string, double> train_and_evaluate(const Estimator &estimator,
                                                 const TrainSpec &train_spec,
                                                 const EvalSpec &eval_spec);

} // namespace meshloom::estimator
