// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work on one batch: by fit, in replicas where the strategy says how
// gradients are brought together, and by a model's own code, see
// TrainingStep.h.
#include "Training.h"

#include "meshloom/API/GradientTape.h"
#include "meshloom/API/Logging.h"
#include "meshloom/API/Mask.h"
#include "meshloom/Distribute/ReplicaContext.h"
#include "meshloom/NN/Models/Model.h"

#include <fmt/format.h>

namespace meshloom::detail {

void Training::step(const StepBatch &batch, bool trains) {
  auto *modelCode = dynamic_cast<ModelImpl *>(&model.implementation());
  if (!modelCode)
    return takeStep(batch, trains);
  TrainingStep step(*this, batch, trains);
  if (trains)
    modelCode->train_step(step);
  else
    modelCode->test_step(step);
}

void Training::takeStep(const StepBatch &batch, bool trains) {
  if (trains && choosesReduction(*strategy.internal()) && !watched)
    return trainStepInReplicas(batch);
  std::optional<GradientTape> tape;
  if (trains)
    tape.emplace();
  const std::vector<Tensor> results =
      model.call_many(batch.x, {.training = trains}, compiledAt);
  const Tensor total = measure(batch, results, model.losses(), trains);
  if (trains)
    changeBy(*tape, total);
}

// A step on the whole batch has no gradients of replicas, which a strategy that
// says how they are brought together asks for. So the model runs in replicas;
// the loss is the same one of all their outputs, each of which has its share.
void Training::trainStepInReplicas(const StepBatch &batch) {
  const int64_t replicas = strategy.num_replicas_in_sync();
  ReplicaValues cut;
  for (const Tensor &x : batch.x)
    cut.push_back(cutRows(*strategy.internal(), x));
  const auto examples = double(batch.x.front().shape().front());
  strategy.run(
      [&](const std::vector<Tensor> &x) {
        const ReplicaContext context = *get_replica_context();
        GradientTape tape;
        std::vector<Tensor> results =
            model.call_many(x, {.training = true}, compiledAt);
        for (Tensor &result : results) {
          const Tensor mask = get_mask(result);
          result = context.all_gather(result, 0);
          if (mask.defined())
            set_mask(
                result,
                not_equal(context.all_gather(cast(mask, DType::I32), 0), 0));
        }
        // A loss that a layer adds is a mean over its examples.
        std::vector<Tensor> added = model.losses();
        const double share = double(x.front().shape().front()) / examples;
        for (Tensor &term : added)
          term = psum(term * share, ReplicaAxis().name);
        const Tensor total = context.merge_call([&](const Strategy &) {
          return measure(batch, results, added, true);
        });
        changeBy(tape, total.defined() ? total / double(replicas) : total);
      },
      perReplica(batch.x, cut, replicas));
}

void Training::changeBy(GradientTape &tape, const Tensor &total) {
  if (!total.defined())
    refuseTraining("fit", "there is nothing to make small: compile the model "
                          "with a loss, and give labels, or add losses in its "
                          "layers");
  const std::vector<DVariable> variables = model.trainable_variables();
  if (variables.empty())
    return logOnce(LogLevel::WARNING,
                   fmt::format("[fit] the model '{}' has no trainable weights: "
                               "its steps change no weight by gradients; see "
                               "set_trainable",
                               model.name()));
  const optimizers::Optimizer &changes = optimizer();
  const Gradients gradients = tape.gradient(
      changes.scale_loss(total, compiledAt), variables, {}, compiledAt);
  if (watched)
    watched->insert(watched->end(), gradients.begin(), gradients.end());
  else
    changes.apply_gradients(gradients, compiledAt);
}

const optimizers::Optimizer &Training::optimizer() const {
  if (!options.optimizer.optimizer)
    refuseTraining("optimizer", "the model was compiled without an optimizer");
  // A number becomes a variable now, so that callbacks set it without another
  // trace.
  const optimizers::Optimizer &optimizer = *options.optimizer.optimizer;
  optimizer.build(model.trainable_variables());
  if (std::holds_alternative<double>(optimizer.learning_rate().value))
    optimizer.set_learning_rate(optimizer.current_learning_rate());
  return optimizer;
}

void Training::finish() {
  const std::optional<optimizers::Optimizer> &optimizer =
      options.optimizer.optimizer;
  if (!optimizer || !optimizer->keeps_averages())
    return;
  Scope scope(*this);
  runner->wait();
  optimizer->overwrite_with_averages();
}

} // namespace meshloom::detail

namespace meshloom {

void ModelImpl::train_step(TrainingStep &step) {
  step.run();
}
void ModelImpl::test_step(TrainingStep &step) {
  step.run();
}

const std::vector<Tensor> &TrainingStep::x() const {
  return batch.x;
}
const std::vector<Tensor> &TrainingStep::y() const {
  return batch.y;
}
const std::vector<Tensor> &TrainingStep::sample_weight() const {
  return batch.weights;
}
const optimizers::Optimizer &TrainingStep::optimizer() const {
  return training.optimizer();
}
Tensor TrainingStep::compute_loss(const std::vector<Tensor> &outputs) {
  const Tensor loss =
      training.measure(batch, outputs, training.model.losses(), isTraining);
  if (!loss.defined())
    detail::refuseTraining("compute_loss",
                           "there is none: compile the model with a loss, and "
                           "give labels, or add losses in its layers");
  return loss;
}
Tensor TrainingStep::compute_loss(const Tensor &output) {
  return compute_loss(std::vector{output});
}
void TrainingStep::run() {
  training.takeStep(batch, isTraining);
}

} // namespace meshloom
