// A model as it was compiled, and its steps, see Training.h.
#include "Training.h"

#include "meshloom/API/ControlOps.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/GradientTape.h"
#include "meshloom/API/HostTensor.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/Distribute/ReplicaContext.h"
#include "meshloom/NN/Models/Inspect.h"
#include "meshloom/NN/Models/Model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace meshloom::detail {

using data::detail::Element;
using data::detail::HostArray;

void refuseTraining(std::string_view function, const std::string &message) {
  throw Error(fmt::format("[{}] {}", function, message));
}

//===-- compile -----------------------------------------------------------===//

void Training::compile(TrainingOptions given) {
  if (given.steps_per_execution < 1)
    refuseTraining("compile",
                   fmt::format("expected steps_per_execution to be 1 or more, "
                               "got {}",
                               given.steps_per_execution));
  options = std::move(given);
  strategy = get_strategy();
  workers = coordinationIfAny(strategy)
                ? std::optional<ClusterCoordinator>(strategy)
                : std::nullopt;
  mesh = strategy.mesh();
  axis.reset();
  outputs.clear();
  loss.reset();
  steps = 0;
  onTrain.emplace([this](const StepBatch &batch) { trainStep(batch); },
                  FunctionOptions{.name = "train_step"},
                  std::source_location::current());
  onTest.emplace([this](const StepBatch &batch) { testStep(batch); },
                 FunctionOptions{.name = "test_step"},
                 std::source_location::current());
  onTrainMany.emplace(
      [this](const StepBatch &stack, const Tensor &count) {
        while_loop([&](const Tensor &i) { return less(i, count); },
                   [&](const Tensor &i) {
                     auto of = [&](std::vector<Tensor> stacks) {
                       for (Tensor &tensor : stacks)
                         tensor = elementAt(tensor, i, Where::current());
                       return stacks;
                     };
                     trainStep({of(stack.x), of(stack.y), of(stack.weights)});
                     return i + 1;
                   },
                   traceCounter("train_steps", 0, Where::current()));
      },
      FunctionOptions{.name = "train_steps"}, std::source_location::current());
  onRead.reset();
  isCompiled = true;
}

void Training::setClassWeights(const std::map<int64_t, double> &weights) {
  if (weights == classWeights)
    return;
  for (auto &[label, weight] : weights)
    if (label < 0)
      refuseTraining("fit", fmt::format("expected labels of 0 and more in "
                                        "class_weight, got {}",
                                        label));
  classWeights = weights;
  classTable = Tensor();
  if (!weights.empty()) {
    std::vector<float> table(size_t(weights.rbegin()->first + 1), 1.f);
    for (auto &[label, weight] : weights)
      table[size_t(label)] = float(weight);
    classTable = hostTensor(DType::F32, {int64_t(table.size())},
                            {reinterpret_cast<const char *>(table.data()),
                             table.size() * sizeof(float)});
  }
  // The table is a part of the step.
  onTrain.emplace([this](const StepBatch &batch) { trainStep(batch); },
                  FunctionOptions{.name = "train_step"},
                  std::source_location::current());
}

Training::Scope::Scope(const Training &training) {
  if (training.strategy.mesh() || training.workers) {
    if (!has_strategy())
      strategy.emplace(training.strategy);
  } else if (training.mesh) {
    mesh.emplace(*training.mesh);
  }
  if (training.options.check_numerics)
    checking.emplace();
}

//===-- Batches -----------------------------------------------------------===//

void Training::build(const Element &batch, std::string_view function) {
  if (!model.built()) {
    Scope scope(*this);
    std::vector<TensorSpec> inputSpecs;
    const size_t inputs = batch.parts().front();
    for (size_t i = 0; i < inputs; ++i) {
      Shape shape = batch.values[i].shape();
      if (shape.empty())
        refuseTraining(function,
                       "expected batches of examples, got single examples of "
                       "shape []: call batch() on the dataset");
      shape.front() = -1;
      inputSpecs.push_back({std::move(shape), batch.values[i].dtype()});
    }
    model.build_many(inputSpecs);
  }
  if (!mesh && !workers && model.built())
    for (const DVariable &variable : model.variables())
      if (Tensor value = variable.read_value(); is_dtensor(value)) {
        mesh = value.mesh();
        break;
      }
  if (!mesh || axis)
    return;
  // Weights that were made outside of every scope come to the mesh.
  set_layouts(model,
              [&](const std::string &,
                  const DVariable &weight) -> std::optional<Layout> {
                if (is_dtensor(weight.read_value()))
                  return std::nullopt;
                return Layout::replicated(*mesh, unsigned(weight.rank()));
              });
  auto has = [&](std::string_view name) {
    return std::ranges::any_of(
        mesh->axes(), [&](const MeshAxis &of) { return of.name == name; });
  };
  if (options.batch_axis) {
    if (!options.batch_axis->empty() && !has(*options.batch_axis)) {
      std::vector<std::string> names;
      for (const MeshAxis &of : mesh->axes())
        names.push_back(of.name);
      refuseTraining(function,
                     fmt::format("expected batch_axis to be an axis of the "
                                 "model's mesh, which has {}, got '{}'",
                                 fmt::join(names, ", "), *options.batch_axis));
    }
    axis = options.batch_axis;
  } else if (mesh->axes().size() == 1) {
    axis = mesh->axes().front().name;
  } else {
    axis = has("batch") ? "batch" : "";
  }
}

std::optional<Layout> Training::layoutOf(int64_t rank, int64_t dim) const {
  if (!mesh)
    return std::nullopt;
  if (!axis || axis->empty() || rank <= dim)
    return Layout::replicated(*mesh, unsigned(rank));
  return Layout::batch_sharded(*mesh, *axis, unsigned(rank), unsigned(dim));
}

Tensor Training::placed(const Tensor &tensor, int64_t batchDim) const {
  if (!mesh || is_dtensor(tensor))
    return tensor;
  return distribute(tensor, *layoutOf(tensor.rank(), batchDim));
}

/// Throws where it is no batch.
static void expectBatch(const Element &batch, std::string_view function) {
  const std::vector<size_t> parts = batch.parts();
  if (parts.size() > 3)
    refuseTraining(function,
                   fmt::format("expected batches of inputs, labels and weights "
                               "at most, got tuples of {} parts: {}",
                               parts.size(), batch.typeText()));
  if (batch.values.empty() || parts.front() == 0)
    refuseTraining(function, "expected batches with inputs, got none");
  for (const HostArray &value : batch.values)
    if (value.shape().empty())
      refuseTraining(function,
                     fmt::format("expected batches of examples, got {}: call "
                                 "batch() on the dataset",
                                 batch.typeText()));
  const int64_t size = batch.values.front().shape().front();
  for (const HostArray &value : batch.values)
    if (value.shape().front() != size)
      refuseTraining(function,
                     fmt::format("expected as many labels and weights as "
                                 "examples, got {}: all first dims of a batch "
                                 "are the same; call batch() on a dataset of "
                                 "single examples",
                                 batch.typeText()));
}

/// `place` makes the tensor of each value.
template <typename F>
static StepBatch divided(const Element &batch, F &&place) {
  StepBatch made;
  size_t next = 0;
  const std::vector<size_t> parts = batch.parts();
  std::vector<Tensor> *const to[] = {&made.x, &made.y, &made.weights};
  for (size_t part = 0; part < parts.size(); ++part) {
    to[part]->reserve(parts[part]);
    for (size_t i = 0; i < parts[part]; ++i)
      to[part]->push_back(place(next++));
  }
  return made;
}

StepBatch Training::place(const Element &batch,
                          std::string_view function) const {
  expectBatch(batch, function);
  return divided(batch,
                 [&](size_t i) { return placed(batch.values[i].tensor(), 0); });
}

StepBatch Training::placeStack(std::span<const Element> batches, int64_t slots,
                               std::string_view function) const {
  for (const Element &batch : batches)
    expectBatch(batch, function);
  return divided(batches.front(), [&](size_t i) {
    const HostArray &first = batches.front().values[i];
    Shape shape = first.shape();
    shape.insert(shape.begin(), slots);
    if (const Tensor whole = first.tensor(); is_dtensor(whole)) {
      std::vector<Tensor> all(size_t(slots), whole);
      for (size_t k = 1; k < batches.size(); ++k)
        all[k] = batches[k].values[i].tensor();
      return stack(all, 0);
    }
    // The slots of a last, shorter run hold zeros, which are not used.
    const auto bytes = size_t(first.byteCount());
    std::vector<char> all(bytes * size_t(slots));
    for (size_t k = 0; k < batches.size(); ++k)
      batches[k].values[i].copyTo(all.data() + k * bytes);
    return placed(
        HostArray(first.dtype(), std::move(shape), std::move(all)).tensor(), 1);
  });
}

//===-- What a step computes ----------------------------------------------===//

std::vector<std::string> Training::outputNames(size_t count) const {
  std::vector<std::string> names;
  if (count == 1)
    return {""};
  if (auto *graph = dynamic_cast<ModelImpl *>(&model.implementation()))
    for (const SymbolicTensor &output : graph->outputs())
      names.push_back(output.name());
  for (size_t i = names.size(); i < count; ++i)
    names.push_back(fmt::format("output_{}", i + 1));
  return names;
}

std::vector<metrics::Metric> Training::metricsOf(const MetricsOfOutputs &given,
                                                 size_t output,
                                                 size_t count) const {
  if (!given.each.empty())
    return given.each[output];
  if (!given.byName.empty()) {
    auto found = given.byName.find(outputNames(count)[output]);
    return found == given.byName.end() ? std::vector<metrics::Metric>()
                                       : found->second;
  }
  if (count == 1)
    return given.all;
  std::vector<metrics::Metric> own;
  for (const metrics::Metric &metric : given.all) {
    if (metric.id().empty())
      refuseTraining(
          "compile",
          fmt::format("'{}' cannot be the metric of several outputs: "
                      "give metrics for each output",
                      metric.name()));
    own.push_back(metrics::Metric(metric.id(), metric.config()));
  }
  return own;
}

void Training::makeOutputs(const StepBatch &batch,
                           const std::vector<Tensor> &results) {
  if (loss)
    return;
  const size_t count = results.size();
  if (batch.y.size() != count && !batch.y.empty())
    refuseTraining("fit",
                   fmt::format("expected labels for each of the model's {} "
                               "outputs, got {}",
                               count, batch.y.size()));
  auto expectCount = [&](size_t given, const char *what) {
    if (given && given != count)
      refuseTraining("compile", fmt::format("expected {} for each of the "
                                            "model's {} outputs, got {}",
                                            what, count, given));
  };
  expectCount(options.loss.each.size(), "a loss");
  expectCount(options.loss_weights.size(), "a loss weight");
  expectCount(options.metrics.each.size(), "metrics");
  expectCount(options.weighted_metrics.each.size(), "weighted metrics");
  const std::vector<std::string> names = outputNames(count);
  for (auto &[name, one] : options.loss.byName)
    if (std::ranges::find(names, name) == names.end())
      refuseTraining("compile",
                     fmt::format("there is a loss for '{}', but the model's "
                                 "outputs are '{}'",
                                 name, fmt::join(names, "', '")));
  std::vector<TrainedOutput> made;
  for (size_t i = 0; i < count; ++i) {
    TrainedOutput output;
    output.name = names[i];
    output.loss = options.loss.all;
    if (!options.loss.each.empty())
      output.loss = options.loss.each[i];
    else if (auto found = options.loss.byName.find(names[i]);
             found != options.loss.byName.end())
      output.loss = found->second;
    if (!options.loss_weights.empty())
      output.weight = options.loss_weights[i];
    if (count > 1 && output.loss)
      output.mean.emplace(metrics::MetricOptions{names[i] + "_loss"});
    if (!batch.y.empty()) {
      output.metrics = metricsOf(options.metrics, i, count);
      output.weighted = metricsOf(options.weighted_metrics, i, count);
    }
    made.push_back(std::move(output));
  }
  outputs = std::move(made);
  loss.emplace("loss");
}

Tensor Training::exampleWeights(const StepBatch &batch, size_t output,
                                bool isTraining) const {
  Tensor weights;
  if (!batch.weights.empty())
    weights = batch.weights.size() == 1 ? batch.weights.front()
                                        : batch.weights.at(output);
  if (!isTraining || !classTable.defined())
    return weights;
  Tensor labels = batch.y[output];
  if (labels.rank() > 1)
    labels =
        labels.shape().back() == 1 ? squeeze(labels, {-1}) : argmax(labels, -1);
  const int64_t classes = classTable.size();
  const Tensor index = cast(labels, DType::I32);
  // Labels beyond the table count once.
  const Tensor byClass =
      where(less(index, int32_t(classes)), take(classTable, index, 0), 1.f);
  return weights.defined() ? weights * cast(byClass, weights.dtype()) : byClass;
}

Tensor Training::measure(const StepBatch &batch,
                         const std::vector<Tensor> &results,
                         const std::vector<Tensor> &added, bool isTraining) {
  makeOutputs(batch, results);
  const Tensor examples = full({}, double(batch.x.front().shape().front()));
  Tensor total;
  auto add = [&](const Tensor &term) {
    total = total.defined() ? total + cast(term, total.dtype()) : term;
  };
  for (size_t i = 0; i < outputs.size(); ++i) {
    TrainedOutput &output = outputs[i];
    if (batch.y.empty())
      continue;
    const Tensor weights = exampleWeights(batch, i, isTraining);
    if (output.loss) {
      Tensor value = output.loss(batch.y[i], results[i], weights);
      if (output.mean)
        output.mean->update_state(value, examples);
      add(output.weight == 1 ? value : value * output.weight);
    }
    for (const metrics::Metric &metric : output.metrics)
      metric.update_state(batch.y[i], results[i]);
    for (const metrics::Metric &metric : output.weighted)
      metric.update_state(batch.y[i], results[i], weights);
  }
  for (const Tensor &term : added)
    add(term);
  if (total.defined())
    loss->update_state(total, examples);
  return total;
}

void Training::trainStep(const StepBatch &batch) {
  if (choosesReduction(*strategy.internal()))
    return trainStepInReplicas(batch);
  GradientTape tape;
  const std::vector<Tensor> results =
      model.call_many(batch.x, {.training = true});
  changeBy(tape, measure(batch, results, model.losses(), true));
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
        std::vector<Tensor> results = model.call_many(x, {.training = true});
        for (Tensor &result : results)
          result = context.all_gather(result, 0);
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
    refuseTraining("fit", "the model has no trainable weights");
  const optimizers::Optimizer &optimizer = *options.optimizer.optimizer;
  const Gradients gradients =
      tape.gradient(optimizer.scale_loss(total), variables);
  // A number becomes a variable now, so that callbacks set it without another
  // trace.
  optimizer.build(variables);
  if (std::holds_alternative<double>(optimizer.learning_rate().value))
    optimizer.set_learning_rate(optimizer.current_learning_rate());
  optimizer.apply_gradients(gradients);
}

void Training::testStep(const StepBatch &batch) {
  const std::vector<Tensor> results =
      model.call_many(batch.x, {.training = false});
  measure(batch, results, model.losses(), false);
}

//===-- Calls -------------------------------------------------------------===//

void Training::train(const StepBatch &batch) {
  Scope scope(*this);
  if (workers)
    workers->schedule(*onTrain, batch);
  else
    (*onTrain)(batch);
  ++steps;
}

void Training::trainMany(const StepBatch &stack, int64_t count) {
  Scope scope(*this);
  (*onTrainMany)(stack, tensor(int32_t(count)));
  steps += count;
}

std::vector<ConcreteFunction> Training::trainFunctions() const {
  std::vector<ConcreteFunction> all = onTrain->concrete_functions();
  for (ConcreteFunction &loop : onTrainMany->concrete_functions())
    all.push_back(std::move(loop));
  return all;
}

void Training::test(const StepBatch &batch) {
  Scope scope(*this);
  if (workers)
    workers->schedule(*onTest, batch);
  else
    (*onTest)(batch);
}

std::vector<Tensor> Training::predict(const StepBatch &batch) {
  if (!onPredict)
    onPredict.emplace(
        [this](const std::vector<Tensor> &x) {
          return model.call_many(x, {.training = false});
        },
        FunctionOptions{.name = "predict_step"},
        std::source_location::current());
  Scope scope(*this);
  return (*onPredict)(batch.x);
}

//===-- Numbers -----------------------------------------------------------===//

template <typename F> void Training::forEachMetric(F &&visit) const {
  if (!loss)
    return;
  visit(*loss, "loss");
  for (const TrainedOutput &output : outputs)
    if (output.mean)
      visit(*output.mean, output.mean->name());
  for (const TrainedOutput &output : outputs)
    for (const auto *list : {&output.metrics, &output.weighted})
      for (const metrics::Metric &metric : *list)
        visit(metric,
              (output.name.empty() ? "" : output.name + "_") + metric.name());
}

void Training::reset() {
  Scope scope(*this);
  if (workers)
    workers->join();
  forEachMetric([](const metrics::Metric &metric, const std::string &) {
    metric.reset_state();
  });
}

std::vector<std::string> Training::names() const {
  std::vector<std::string> all;
  forEachMetric([&](const metrics::Metric &, const std::string &name) {
    all.push_back(name);
  });
  return all;
}

std::vector<Logs::Value> Training::read() {
  if (!loss)
    return {};
  Scope scope(*this);
  if (workers)
    workers->join();
  if (!onRead)
    onRead.emplace(
        [this] {
          std::vector<Tensor> numbers;
          forEachMetric([&](const metrics::Metric &metric,
                            const std::string &) {
            const Tensor result = metric.result();
            if (result.rank() > 0)
              refuseTraining("fit", fmt::format("metric '{}' is no number, so "
                                                "it cannot be shown: read its "
                                                "result() yourself",
                                                metric.name()));
            numbers.push_back(cast(result, DType::F64));
          });
          return std::vector<Tensor>{stack(numbers, 0)};
        },
        FunctionOptions{.name = "read_metrics"},
        std::source_location::current());
  const std::vector<double> values =
      (*onRead)().front().template to_vector<double>();
  std::vector<Logs::Value> logs;
  for (std::string &name : names())
    logs.emplace_back(std::move(name), values[logs.size()]);
  return logs;
}

} // namespace meshloom::detail
