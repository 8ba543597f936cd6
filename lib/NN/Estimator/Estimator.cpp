// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models of functions, their training and evaluation, see Estimator.h.
#include "EstimatorState.h"

#include "../Layers/LayerState.h"

#include "meshloom/API/Logging.h"
#include "meshloom/API/VariableCreation.h"
#include "meshloom/NN/State/CheckpointManager.h"
#include "meshloom/NN/Training/TensorBoard.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

namespace meshloom::estimator {

using data::detail::Element;

namespace {

constexpr char checkpointName[] = "model.ckpt";
constexpr char globalStepName[] = "global_step";

/// The step counter of the model function that this thread is in.
thread_local const DVariable *stepOfFunction = nullptr;

void tell(const std::string &text) {
  meshloom::detail::log(LogLevel::INFO, text);
}

/// A model of features and labels, whose only result is that it adds the loss.
class FunctionModel : public ModelImpl {
public:
  FunctionModel(ModelFunction function, ModeKeys mode)
      : ModelImpl("Estimator", "estimator"), function(std::move(function)),
        mode(mode) {
    State::of(*this).keepsVariables = true;
  }

  /// The result of the first call. Later calls update its metrics.
  std::optional<EstimatorSpec> spec;
  /// The number of training steps so far, and the loss of the last one.
  DVariable globalStep, lastLoss;

  std::vector<Tensor> call_many(const std::vector<Tensor> &inputs,
                                const CallOptions &) override {
    size_t next = 0;
    const bool isFirst = !spec;
    if (!globalStep.defined())
      init_scope([&] {
        globalStep =
            DVariable(tensor(int64_t(0)),
                      {.name = globalStepName,
                       .trainable = false,
                       .aggregation = VariableAggregation::ONLY_FIRST_REPLICA});
        lastLoss =
            DVariable(tensor(0.f), {.name = "loss",
                                    .trainable = false,
                                    .aggregation = VariableAggregation::MEAN});
      });
    auto creator = variable_creator_scope([&](const NextVariable &make,
                                              const Tensor &initial,
                                              VariableOptions options) {
      if (isFirst) {
        created.push_back(make(initial, std::move(options)));
        return created.back();
      }
      if (next == created.size() || created[next].shape() != initial.shape() ||
          created[next].dtype() != initial.dtype())
        Error(fmt::format("[Estimator] expected the model function to create "
                          "the same variables in each call, got a different "
                          "one, '{}': variables must not depend on the batch",
                          options.name))
            .raise();
      return created[next++];
    });
    const DVariable *const around = std::exchange(stepOfFunction, &globalStep);
    EstimatorSpec result;
    try {
      result = function(inputs[0], inputs[1], mode);
    } catch (...) {
      stepOfFunction = around;
      throw;
    }
    stepOfFunction = around;
    if (!result.loss.defined() || result.loss.rank() != 0)
      Error("[Estimator] expected the model function to give a loss, a "
            "scalar: reduce it")
          .raise();
    if (mode == ModeKeys::TRAIN && !result.optimizer.optimizer)
      Error("[Estimator] expected the model function to give an "
            "optimizer for training, got none")
          .raise();
    add_loss(result.loss);
    const Tensor loss = result.loss;
    if (mode == ModeKeys::TRAIN && !isFirst) { // the first call is not a step
      globalStep.assign_add(1);
      lastLoss.assign(cast(loss, DType::F32));
    }
    if (isFirst) {
      // Sums of metrics are no part of the model.
      auto isOfMetric = [&](const DVariable &variable) {
        return std::ranges::any_of(result.eval_metric_ops, [&](auto &entry) {
          return std::ranges::any_of(
              entry.second.variables(),
              [&](const DVariable &sum) { return sum.is(variable); });
        });
      };
      auto &weights = State::of(*this).weights;
      for (const DVariable &variable : created)
        if (!isOfMetric(variable))
          weights.push_back(
              {fmt::format("{}_{}", variable.name(), weights.size()),
               variable,
               {},
               true});
      result.loss = Tensor(); // of a trace that ends
      spec = std::move(result);
    }
    return {expand_dims(loss, 0)};
  }

private:
  ModelFunction function;
  ModeKeys mode;
  std::vector<DVariable> created; ///< in the order of the first call
};

struct Compiled {
  ModelOf<FunctionModel> model;
  std::optional<optimizers::Optimizer> optimizer;
  data::AnyDataset input; ///< batches of features and labels, as inputs
};

/// Builds the model that the model function makes of the input's first batch.
Compiled makeModel(const Estimator::State &estimator, ModeKeys mode,
                   const data::AnyDataset &input) {
  if (estimator.config.tf_random_seed)
    set_random_seed(*estimator.config.tf_random_seed);
  const std::optional<Element> batch = input.open()->next();
  if (!batch || batch->values.size() != 2 || batch->parts().size() != 2)
    Error(fmt::format("[Estimator] expected input_fn to give batches of "
                      "features and labels, got {}",
                      batch ? batch->typeText() : "none"))
        .raise();
  std::vector<TensorSpec> specs;
  for (const data::detail::HostArray &value : batch->values) {
    if (value.shape().empty())
      Error("[Estimator] expected input_fn to give batches, got single "
            "examples: call batch() on the dataset")
          .raise();
    specs.push_back({value.shape(), value.dtype()});
  }
  const auto both =
      std::make_shared<data::detail::TypedSkeleton<std::vector<Tensor>>>(
          std::vector<Tensor>(2));
  Compiled compiled{ModelOf<FunctionModel>(estimator.modelFunction, mode),
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

using Clock = std::chrono::steady_clock;
double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Writes checkpoints, lines and summaries while fit takes steps.
class Steps : public callbacks::Callback {
public:
  /// `write` writes a checkpoint. `first`: the number of the first step.
  Steps(const FunctionModel &model, const Estimator::State &estimator,
        int64_t first, std::function<void()> write)
      : model(model), config(estimator.config), isWriter(estimator.isWriter()),
        first(first), step(first), writtenStep(first), write(std::move(write)) {
    if (isWriter && config.save_summary_steps > 0)
      summaries.emplace(config.model_dir);
  }

  void on_train_batch_end(int64_t, Logs &logs) override {
    const int64_t done = step++ - first; // steps before this one
    const bool tells = isTime(config.log_step_count_steps, done);
    const bool sums = isTime(config.save_summary_steps, done);
    const bool writes =
        config.save_checkpoints_steps
            ? step - writtenStep >= *config.save_checkpoints_steps
            : secondsSince(written) >= config.save_checkpoints_secs;
    if (!tells && !sums && !writes)
      return;
    (void)logs.values(); // waits for workers
    if (tells || sums)
      show(tells, sums);
    if (!writes)
      return;
    write();
    written = Clock::now();
    writtenStep = step;
  }
  void on_train_end(Logs &) override {
    if (step != first && isWriter)
      tell(fmt::format("Loss for final step: {:.7g}.",
                       model.lastLoss.item<float>()));
    if (summaries)
      summaries->flush();
  }
  /// Returns whether steps were taken that no checkpoint has.
  bool isUnwritten() const { return step != writtenStep; }

private:
  static bool isTime(int64_t every, int64_t done) {
    return every > 0 && done % every == 0;
  }
  /// The loss of the step, and how fast steps were since the last line.
  void show(bool tells, bool sums) {
    const float loss = model.lastLoss.item<float>(); // all processes read it
    if (!isWriter)
      return;
    const int64_t number = step - 1;
    const double seconds = secondsSince(shown);
    if (tells && number > first)
      tell(fmt::format("global_step/sec: {:.6g}",
                       double(step - shownStep) / seconds));
    if (tells)
      tell(number > first
               ? fmt::format("loss = {:.7g}, step = {} ({:.3f} sec)", loss,
                             number, seconds)
               : fmt::format("loss = {:.7g}, step = {}", loss, number));
    if (sums) {
      summaries->scalar("loss", loss, number);
      if (number > first)
        summaries->scalar("global_step/sec", double(step - shownStep) / seconds,
                          number);
    }
    shown = Clock::now();
    shownStep = step;
  }

  const FunctionModel &model;
  const RunConfig &config;
  bool isWriter;
  int64_t first, step, writtenStep, shownStep = step;
  Clock::time_point written = Clock::now(), shown = written;
  std::function<void()> write;
  std::optional<SummaryWriter> summaries;
};

} // namespace

DVariable get_global_step() {
  if (!stepOfFunction)
    Error("[get_global_step] expected to be called by the model function "
          "of an Estimator: there is no step elsewhere",
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  return *stepOfFunction;
}

std::optional<int64_t> newestStep(const std::filesystem::path &modelFolder) {
  const auto newest = latest_checkpoint(modelFolder, checkpointName);
  if (!newest)
    return std::nullopt;
  const std::string name = newest->filename().string();
  return std::stoll(name.substr(name.rfind('-') + 1));
}

int64_t Estimator::State::train(const InputFunction &input_fn,
                                std::optional<int64_t> max_steps,
                                const AfterCheckpoint &afterCheckpoint) {
  const std::unique_ptr<StrategyScope> around = scope();
  const data::AnyDataset input = input_fn();
  const Compiled compiled = makeModel(*this, ModeKeys::TRAIN, input);
  const DVariable &globalStep = compiled.model->globalStep;
  int64_t step = 0;
  CheckpointManager manager(Checkpoint({{"model", compiled.model},
                                        {"optimizer", *compiled.optimizer},
                                        {globalStepName, &step}}),
                            config.model_dir,
                            {.max_to_keep = config.keep_checkpoint_max,
                             .checkpoint_name = checkpointName});
  const auto restored = manager.restore_or_initialize();
  if (restored && isWriter())
    tell(fmt::format("Restoring parameters from {}", restored->string()));
  globalStep.assign(step);
  std::optional<int64_t> remaining;
  if (max_steps) {
    remaining = *max_steps - step;
    if (*remaining <= 0) {
      if (isWriter())
        tell("Skipping training since max_steps has already saved.");
      return step;
    }
  }
  auto write = [&] {
    step = globalStep.item<int64_t>();
    if (isWriter())
      tell(fmt::format("Saving checkpoints for {} into {}.", step,
                       (config.model_dir / checkpointName).string()));
    (void)manager.save(step);
    if (afterCheckpoint)
      afterCheckpoint(step);
  };
  if (!restored)
    write();
  Steps steps(*compiled.model.operator->(), *this, step, write);
  // The input may end before max_steps: that is the end of training.
  if (remaining && input.cardinality() >= 0)
    remaining = std::min(*remaining, input.cardinality());
  (void)compiled.model.fit(
      compiled.input,
      {.verbose = 0, .callbacks = {steps}, .steps_per_epoch = remaining});
  if (steps.isUnwritten())
    write();
  return step;
}

std::map<std::string, double>
Estimator::evaluate(const InputFunction &input_fn, std::optional<int64_t> count,
                    const std::string &name) const {
  const RunConfig &config = state->config;
  const auto newest = latest_checkpoint(config.model_dir, checkpointName);
  if (!newest)
    Error(fmt::format("[Estimator] there is no checkpoint in '{}': train "
                      "first",
                      config.model_dir.string()),
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  const std::unique_ptr<StrategyScope> around = state->scope();
  const data::AnyDataset input = input_fn();
  const Compiled compiled = makeModel(*state, ModeKeys::EVAL, input);
  int64_t step = 0;
  Checkpoint({{"model", compiled.model}, {globalStepName, &step}})
      .restore(*newest, {.allow_extra_objects = true});
  compiled.model->globalStep.assign(step);
  std::map<std::string, double> numbers;
  const Logs logs =
      compiled.model.evaluate(compiled.input, {.verbose = 0, .steps = count});
  for (const auto &[metric, value] : logs.values())
    numbers[metric] = value;
  for (const auto &[metricName, metric] : compiled.model->spec->eval_metric_ops)
    numbers[metricName] = cast(metric.result(), DType::F64).item<double>();
  if (state->isWriter()) {
    SummaryWriter summaries(config.model_dir /
                            (name.empty() ? "eval" : "eval_" + name));
    std::vector<std::string> texts{fmt::format("global_step = {}", step)};
    for (const auto &[metric, value] : numbers) {
      summaries.scalar(metric, value, step);
      texts.push_back(fmt::format("{} = {:.7g}", metric, value));
    }
    summaries.flush();
    tell(fmt::format("Saving dict for global step {}: {}", step,
                     fmt::join(texts, ", ")));
  }
  numbers[globalStepName] = double(step);
  return numbers;
}

} // namespace meshloom::estimator
