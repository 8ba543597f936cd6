// Estimators on one process, see Estimator.h.
#include "meshloom/NN/Training/Estimator.h"

#include "../Layers/LayerState.h"

#include "meshloom/API/VariableCreation.h"
#include "meshloom/NN/State/CheckpointManager.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>

namespace meshloom::estimator {

using data::detail::Element;

namespace {

constexpr char checkpointName[] = "model.ckpt";

/// A model of features and labels, whose only result is that it adds the loss.
class FunctionModel : public ModelImpl {
public:
  FunctionModel(ModelFunction function, ModeKeys mode)
      : ModelImpl("Estimator", "estimator"), function(std::move(function)),
        mode(mode) {
    State::of(*this).keepsVariables = true;
  }

  /// What the first call gave. Its metrics are those that later ones update.
  std::optional<EstimatorSpec> spec;

  std::vector<Tensor> call_many(const std::vector<Tensor> &inputs,
                                const CallOptions &) override {
    size_t next = 0;
    const bool isFirst = !spec;
    auto creator = variable_creator_scope([&](const NextVariable &make,
                                              const Tensor &initial,
                                              VariableOptions options) {
      if (isFirst) {
        made.push_back(make(initial, std::move(options)));
        return made.back();
      }
      if (next == made.size() || made[next].shape() != initial.shape() ||
          made[next].dtype() != initial.dtype())
        throw Error(fmt::format(
            "[Estimator] expected the model function to make the same "
            "variables in each call, got another one, '{}': what it makes "
            "does not depend on the batch",
            options.name));
      return made[next++];
    });
    EstimatorSpec given = function(inputs[0], inputs[1], mode);
    if (!given.loss.defined() || given.loss.rank() != 0)
      throw Error("[Estimator] expected the model function to give a loss, a "
                  "scalar: reduce it");
    if (mode == ModeKeys::TRAIN && !given.optimizer.optimizer)
      throw Error("[Estimator] expected the model function to give an "
                  "optimizer for training, got none");
    add_loss(given.loss);
    const Tensor loss = given.loss;
    if (isFirst) {
      // Sums of metrics are no part of the model.
      auto isOfMetric = [&](const DVariable &variable) {
        return std::ranges::any_of(given.eval_metric_ops, [&](auto &each) {
          return std::ranges::any_of(
              each.second.variables(),
              [&](const DVariable &sum) { return sum.is(variable); });
        });
      };
      auto &weights = State::of(*this).weights;
      for (const DVariable &variable : made)
        if (!isOfMetric(variable))
          weights.push_back(
              {fmt::format("{}_{}", variable.name(), weights.size()),
               variable,
               {},
               true});
      given.loss = Tensor(); // of a trace that ends
      spec = std::move(given);
    }
    return {expand_dims(loss, 0)};
  }

private:
  ModelFunction function;
  ModeKeys mode;
  std::vector<DVariable> made; ///< in the order of the first call
};

struct Compiled {
  ModelOf<FunctionModel> model;
  std::optional<optimizers::Optimizer> optimizer;
  data::AnyDataset input; ///< batches of features and labels, as inputs
};

/// What the model function makes of the input's first batch.
Compiled makeModel(const ModelFunction &function, ModeKeys mode,
                   const data::AnyDataset &input) {
  const std::optional<Element> batch = input.open()->next();
  if (!batch || batch->values.size() != 2 || batch->parts().size() != 2)
    throw Error(fmt::format("[Estimator] expected input_fn to give batches of "
                            "features and labels, got {}",
                            batch ? batch->typeText() : "none"));
  std::vector<TensorSpec> specs;
  for (const data::detail::HostArray &value : batch->values) {
    if (value.shape().empty())
      throw Error("[Estimator] expected input_fn to give batches, got single "
                  "examples: call batch() on the dataset");
    specs.push_back({value.shape(), value.dtype()});
  }
  const auto both =
      std::make_shared<data::detail::TypedSkeleton<std::vector<Tensor>>>(
          std::vector<Tensor>(2));
  Compiled compiled{ModelOf<FunctionModel>(function, mode),
                    {},
                    data::AnyDataset(data::detail::map(
                        input.source(),
                        [skeleton = both](const Element &element) {
                          return Element{element.values, skeleton};
                        },
                        {}))};
  (void)eval_shape(
      [&](const std::vector<Tensor> &inputs) {
        return compiled.model.call_many(inputs,
                                        {.training = mode == ModeKeys::TRAIN});
      },
      specs);
  const EstimatorSpec &spec = *compiled.model->spec;
  compiled.optimizer = spec.optimizer.optimizer;
  compiled.model.compile({.optimizer = spec.optimizer});
  return compiled;
}

/// Counts steps, and writes checkpoints by the clock.
class Steps : public callbacks::Callback {
public:
  using Clock = std::chrono::steady_clock;
  Steps(int64_t &step, double seconds, std::function<void()> write)
      : step(step), between(seconds), write(std::move(write)) {}

  void on_train_batch_end(int64_t, Logs &) override {
    ++step;
    if (Clock::now() - written < between)
      return;
    write();
    written = Clock::now();
  }

private:
  int64_t &step;
  std::chrono::duration<double> between;
  std::function<void()> write;
  Clock::time_point written = Clock::now();
};

} // namespace

Estimator::Estimator(ModelFunction model_fn, EstimatorOptions given)
    : modelFunction(std::move(model_fn)), options(std::move(given)) {
  if (options.model_dir.empty())
    throw Error("[Estimator] expected a model_dir, got none");
  if (options.save_checkpoints_secs < 0 || options.keep_checkpoint_max < 0)
    throw Error("[Estimator] expected save_checkpoints_secs and "
                "keep_checkpoint_max to be 0 or more");
}

int64_t Estimator::train(const InputFunction &input_fn,
                         std::optional<int64_t> max_steps) const {
  const data::AnyDataset input = input_fn();
  const Compiled made = makeModel(modelFunction, ModeKeys::TRAIN, input);
  int64_t step = 0;
  CheckpointManager manager(Checkpoint({{"model", made.model},
                                        {"optimizer", *made.optimizer},
                                        {"global_step", &step}}),
                            options.model_dir,
                            {.max_to_keep = options.keep_checkpoint_max,
                             .checkpoint_name = checkpointName});
  const auto restored = manager.restore_or_initialize();
  if (restored)
    std::cout << "Restoring parameters from " << restored->string() << '\n';
  std::optional<int64_t> left;
  if (max_steps) {
    left = *max_steps - step;
    if (*left <= 0)
      return step;
  }
  auto write = [&] { (void)manager.save(step); };
  if (!restored)
    write();
  const int64_t before = step;
  Steps steps(step, options.save_checkpoints_secs, write);
  // The input may end before max_steps: that is the end of training.
  if (left && input.cardinality() >= 0)
    left = std::min(*left, input.cardinality());
  (void)made.model.fit(
      made.input,
      {.verbose = 0, .callbacks = {steps}, .steps_per_epoch = left});
  if (step != before)
    write();
  return step;
}

std::map<std::string, double>
Estimator::evaluate(const InputFunction &input_fn,
                    std::optional<int64_t> count) const {
  const auto newest = latest_checkpoint(options.model_dir, checkpointName);
  if (!newest)
    throw Error(fmt::format("[Estimator] there is no checkpoint in '{}': train "
                            "first",
                            options.model_dir.string()));
  const data::AnyDataset input = input_fn();
  const Compiled made = makeModel(modelFunction, ModeKeys::EVAL, input);
  int64_t step = 0;
  Checkpoint({{"model", made.model}, {"global_step", &step}})
      .restore(*newest, {.allow_extra_objects = true});
  std::map<std::string, double> numbers;
  const Logs logs =
      made.model.evaluate(made.input, {.verbose = 0, .steps = count});
  for (const auto &[name, value] : logs.values())
    numbers[name] = value;
  for (const auto &[name, metric] : made.model->spec->eval_metric_ops)
    numbers[name] = cast(metric.result(), DType::F64).item<double>();
  numbers["global_step"] = double(step);
  return numbers;
}

std::map<std::string, double> train_and_evaluate(const Estimator &estimator,
                                                 const TrainSpec &train_spec,
                                                 const EvalSpec &eval_spec) {
  (void)estimator.train(train_spec.input_fn, train_spec.max_steps);
  return estimator.evaluate(eval_spec.input_fn, eval_spec.steps);
}

} // namespace meshloom::estimator
