// Estimators on one process, see Estimator.h.
#include "meshloom/NN/Training/Estimator.h"

#include "meshloom/NN/State/CheckpointManager.h"

#include <fmt/format.h>

#include <chrono>
#include <iostream>

namespace meshloom::estimator {

using data::detail::Element;

namespace {

constexpr char checkpointName[] = "model.ckpt";

/// What the model function makes of the features of the input's first batch.
struct Compiled {
  Model model;
  std::optional<optimizers::Optimizer> optimizer;
};

Compiled makeModel(const ModelFunction &function, ModeKeys mode,
                   const data::AnyDataset &input) {
  const std::optional<Element> batch = input.open()->next();
  if (!batch || batch->parts().size() != 2 || batch->parts().front() != 1)
    throw Error(fmt::format("[Estimator] expected input_fn to give batches of "
                            "features and labels, got {}",
                            batch ? batch->typeText() : "none"));
  const data::detail::HostArray &features = batch->values.front();
  Shape shape = features.shape();
  if (shape.empty())
    throw Error("[Estimator] expected input_fn to give batches, got single "
                "examples: call batch() on the dataset");
  shape.erase(shape.begin());
  const SymbolicTensor input0 = Input(shape, {.dtype = features.dtype()});
  EstimatorSpec spec = function(input0, mode);
  if (!spec.loss)
    throw Error("[Estimator] expected the model function to give a loss, got "
                "none");
  if (mode == ModeKeys::TRAIN && !spec.optimizer.optimizer)
    throw Error("[Estimator] expected the model function to give an optimizer "
                "for training, got none");
  Compiled made{Model(input0, spec.predictions), spec.optimizer.optimizer};
  made.model.compile({.optimizer = spec.optimizer,
                      .loss = spec.loss,
                      .metrics = std::move(spec.metrics)});
  return made;
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
      input, {.verbose = 0, .callbacks = {steps}, .steps_per_epoch = left});
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
  const Logs logs = made.model.evaluate(input, {.verbose = 0, .steps = count});
  for (const auto &[name, value] : logs.values())
    numbers[name] = value;
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
