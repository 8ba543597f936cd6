// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TrainingStep: a step of fit or evaluate, as a model sees it that says itself
// what is done with a batch.
#pragma once

#include "meshloom/NN/Training/Trainer.h"

namespace meshloom {

namespace detail {
struct StepBatch;
} // namespace detail

/// A batch on the devices, and what the model was compiled with. A model that
/// overrides train_step is trained its own way by fit, with its callbacks,
/// History and everything else:
///
///   struct AutoencoderImpl : ModelImpl {
///     void train_step(TrainingStep &step) override {
///       GradientTape tape;
///       const Tensor &x = step.x()[0];
///       const Tensor loss =
///           reduce_mean(square(handle()(x, {.training = true}) - x));
///       step.optimizer().apply_gradients(
///           tape.gradient(loss, handle().trainable_variables()));
///       shown.update_state(loss);
///     }
///     std::vector<metrics::Metric> own_metrics() const override {
///       return {shown};
///     }
///     metrics::Mean shown{"loss"};
///     ...
///
/// It is compiled as one program on the whole batch, so losses are means over
/// that, whatever the strategy.
class TrainingStep {
public:
  /// Inputs, in the order of the model's.
  const std::vector<Tensor> &x() const;
  /// Labels, in the order of the model's outputs; none where none were given.
  const std::vector<Tensor> &y() const;
  /// Weights of examples; none where none were given.
  const std::vector<Tensor> &sample_weight() const;
  /// The one that the model was compiled with. Throws meshloom::Error if there
  /// is none.
  const optimizers::Optimizer &optimizer() const;
  /// The loss that the model was compiled with, and what its layers added in
  /// their last call; metrics are updated. Throws meshloom::Error if there is
  /// neither.
  Tensor compute_loss(const std::vector<Tensor> &outputs);
  /// The loss of a model with one output.
  Tensor compute_loss(const Tensor &output);
  /// The step of a model that has none of its own: calls it, computes the
  /// loss, and in training changes the weights.
  void run();

  /// For Meshloom's own layers.
  TrainingStep(detail::Training &training, const detail::StepBatch &batch,
               bool isTraining)
      : training(training), batch(batch), isTraining(isTraining) {}
  TrainingStep(const TrainingStep &) = delete;
  TrainingStep &operator=(const TrainingStep &) = delete;

private:
  detail::Training &training;
  const detail::StepBatch &batch;
  bool isTraining;
};

} // namespace meshloom
