// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model as it was compiled, and its steps, see Training.h.
#include "Training.h"

#include "meshloom/API/ControlOps.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/HostTensor.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/Distribute/ReplicaContext.h"
#include "meshloom/NN/Models/Inspect.h"
#include "meshloom/NN/Models/Model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <typeinfo>

namespace meshloom::detail {

using data::detail::Element;
using data::detail::HostArray;

void refuseTraining(std::string_view function, const std::string &message) {
  Error(fmt::format("[{}] {}", function, message)).raise();
}

//===-- compile -----------------------------------------------------------===//

void Training::compile(TrainingOptions trainingOptions, const Where &where) {
  std::lock_guard lock(tracing);
  compiledAt = where;
  if (trainingOptions.steps_per_execution < 1)
    refuseTraining("compile",
                   fmt::format("expected steps_per_execution to be 1 or more, "
                               "got {}",
                               trainingOptions.steps_per_execution));
  options = std::move(trainingOptions);
  strategy = get_strategy();
  workers = workersOf(strategy);
  runner = stepRunnerFor(*this);
  mesh = strategy.mesh();
  axis.reset();
  outputs.clear();
  loss.reset();
  steps = 0;
  makeTrainingSteps();
  onTest.emplace([this](const StepBatch &batch) { step(batch, false); },
                 FunctionOptions{.name = "test_step"},
                 std::source_location::current());
  onRead.reset();
  isCompiled = true;
}

void Training::makeTrainingSteps() {
  onTrain.emplace([this](const StepBatch &batch) { step(batch, true); },
                  FunctionOptions{.name = "train_step"},
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
                     step({of(stack.x), of(stack.y), of(stack.weights)}, true);
                     return i + 1;
                   },
                   traceCounter("train_steps", 0, Where::current()));
      },
      FunctionOptions{.name = "train_steps"}, std::source_location::current());
}

void Training::setClassWeights(const std::map<int64_t, double> &weights) {
  if (weights == classWeights)
    return;
  for (auto &[label, weight] : weights)
    if (label < 0)
      refuseTraining("fit", fmt::format("expected labels of 0 and more in "
                                        "class_weight, got {}",
                                        label));
    else if (!std::isfinite(weight))
      refuseTraining("fit", fmt::format("expected finite numbers in "
                                        "class_weight, got {} for label {}",
                                        weight, label));
  std::lock_guard lock(tracing);
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
  makeTrainingSteps(); // the table is a part of them
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

void Training::build(const Element &batch, std::string_view function,
                     std::optional<Where> where) {
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
    const Where line = where.value_or(compiledAt);
    try {
      model.build_many(inputSpecs, line);
    } catch (const Error &error) {
      // A layer's own message says nothing of who called.
      const std::string place =
          fmt::format("{}:{}", line.file_name(), line.line());
      if (!where || error.place() == place)
        throw;
      Error(fmt::format("{}; it was built by {} at {}", error.message(),
                        function, place),
            error.code(), place)
          .raise();
    }
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
  // A way to reduce may have a mesh of its own that cuts the axis. The step
  // cuts a dim that the axis does not divide: it has other blocks there.
  if (choosesReduction(*strategy.internal()) && tensor.rank() > batchDim &&
      mesh->num_local_devices() == mesh->size() &&
      tensor.shape()[size_t(batchDim)] % mesh->size() != 0)
    return distribute(tensor,
                      Layout::replicated(*mesh, unsigned(tensor.rank())));
  return distribute(tensor, *layoutOf(tensor.rank(), batchDim));
}

/// Throws where it is not a batch.
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
      refuseTraining(
          function,
          fmt::format("expected one label and one weight for each example, got "
                      "{}: all first dims of a batch are the same; call "
                      "batch() on a dataset of single examples",
                      batch.typeText()));
}

/// `place` makes the tensor of each value.
template <typename F>
static StepBatch divided(const Element &batch, F &&place) {
  StepBatch result;
  size_t next = 0;
  const std::vector<size_t> parts = batch.parts();
  std::vector<Tensor> *const to[] = {&result.x, &result.y, &result.weights};
  for (size_t part = 0; part < parts.size(); ++part) {
    to[part]->reserve(parts[part]);
    for (size_t i = 0; i < parts[part]; ++i)
      to[part]->push_back(place(next++));
  }
  return result;
}

Element Training::inOrder(const Element &batch,
                          std::string_view function) const {
  const std::vector<std::string> names = batch.names();
  auto *graph = dynamic_cast<ModelImpl *>(&model.implementation());
  if (std::ranges::all_of(names, &std::string::empty) || !graph ||
      graph->outputs().empty())
    return batch;
  Element ordered{{}, batch.skeleton};
  ordered.values.reserve(batch.values.size());
  const std::vector<size_t> parts = batch.parts();
  auto first = names.begin();
  for (size_t part = 0; part < parts.size(); ++part) {
    const auto end = first + std::ptrdiff_t(parts[part]);
    std::vector<std::string> modelNames;
    for (const SymbolicTensor &tensor :
         part == 0 ? graph->inputs() : graph->outputs())
      modelNames.push_back(tensor.name());
    // One is what is meant, whatever its name.
    const bool isNamed = first != end && !first->empty() &&
                         !(parts[part] == 1 && modelNames.size() == 1);
    if (isNamed &&
        !std::is_permutation(first, end, modelNames.begin(), modelNames.end()))
      refuseTraining(
          function,
          fmt::format("expected the names of the model's {}, '{}', got '{}'",
                      part == 0 ? "inputs" : "outputs",
                      fmt::join(modelNames, "', '"),
                      fmt::join(first, end, "', '")));
    for (size_t i = 0; i < parts[part]; ++i)
      ordered.values.push_back(
          batch.values[size_t((isNamed ? std::find(first, end, modelNames[i])
                                       : first + std::ptrdiff_t(i)) -
                              names.begin())]);
    first = end;
  }
  return ordered;
}

StepBatch Training::place(const Element &element,
                          std::string_view function) const {
  expectBatch(element, function);
  const Element batch = inOrder(element, function);
  return divided(batch,
                 [&](size_t i) { return placed(batch.values[i].tensor(), 0); });
}

StepBatch Training::placeStack(std::span<const Element> elements, int64_t slots,
                               std::string_view function) const {
  std::vector<Element> batches;
  batches.reserve(elements.size());
  for (const Element &batch : elements) {
    expectBatch(batch, function);
    batches.push_back(inOrder(batch, function));
  }
  return divided(batches.front(), [&](size_t i) {
    const HostArray &first = batches.front().values[i];
    Shape shape = first.shape();
    shape.insert(shape.begin(), slots);
    if (const Tensor whole = first.tensor(); is_dtensor(whole)) {
      std::vector<Tensor> slices(size_t(slots), whole);
      for (size_t k = 1; k < batches.size(); ++k)
        slices[k] = batches[k].values[i].tensor();
      return stack(slices, 0);
    }
    // The slots of a last, shorter run hold zeros, which are not used.
    const auto bytes = size_t(first.byteCount());
    std::vector<char> joined(bytes * size_t(slots));
    for (size_t k = 0; k < batches.size(); ++k)
      batches[k].values[i].copyTo(joined.data() + k * bytes);
    return placed(
        HostArray(first.dtype(), std::move(shape), std::move(joined)).tensor(),
        1);
  });
}

//===-- What a step computes ----------------------------------------------===//

std::vector<std::string> Training::outputNames(size_t count) const {
  std::vector<std::string> names;
  if (auto *graph = dynamic_cast<ModelImpl *>(&model.implementation()))
    for (const SymbolicTensor &output : graph->outputs())
      names.push_back(output.name());
  for (size_t i = names.size(); i < count; ++i)
    names.push_back(fmt::format("output_{}", i + 1));
  return names;
}

std::vector<metrics::Metric> Training::metricsOf(const MetricsOfOutputs &listed,
                                                 size_t output,
                                                 size_t count) const {
  if (!listed.inOrder.empty())
    return listed.inOrder[output];
  if (!listed.byName.empty()) {
    auto found = listed.byName.find(outputNames(count)[output]);
    return found == listed.byName.end() ? std::vector<metrics::Metric>()
                                        : found->second;
  }
  if (count == 1)
    return listed.shared;
  std::vector<metrics::Metric> copies;
  for (const metrics::Metric &metric : listed.shared) {
    if (metric.id().empty())
      refuseTraining(
          "compile",
          fmt::format("'{}' cannot be the metric of several outputs: "
                      "give metrics for each output",
                      metric.name()));
    copies.push_back(metrics::Metric(metric.id(), metric.config()));
  }
  return copies;
}

void Training::makeOutputs(const StepBatch &batch,
                           const std::vector<Tensor> &results,
                           bool isTraining) {
  const char *function = isTraining ? "fit" : "evaluate";
  const size_t count = results.size();
  if (batch.y.size() != count && !batch.y.empty())
    refuseTraining(function,
                   fmt::format("expected labels for each of the model's {} "
                               "outputs, got {}",
                               count, batch.y.size()));
  // A model of code may give other outputs for other batches.
  if (loss && count != outputs.size())
    refuseTraining(function,
                   fmt::format("expected {} outputs of the model, as for the "
                               "batches before, got {}: compile it again",
                               outputs.size(), count));
  if (loss)
    return;
  auto expectCount = [&](size_t actual, const char *part) {
    if (actual && actual != count)
      refuseTraining("compile", fmt::format("expected {} for each of the "
                                            "model's {} outputs, got {}",
                                            part, count, actual));
  };
  expectCount(options.loss.inOrder.size(), "a loss");
  expectCount(options.loss_weights.inOrder.size(), "a loss weight");
  expectCount(options.metrics.inOrder.size(), "metrics");
  expectCount(options.weighted_metrics.inOrder.size(), "weighted metrics");
  const std::vector<std::string> names = outputNames(count);
  auto expectNames = [&](const auto &byName, std::string_view part) {
    for (auto &[name, one] : byName)
      if (std::ranges::find(names, name) == names.end())
        refuseTraining("compile",
                       fmt::format("there is {} for '{}', but the model's "
                                   "outputs are '{}'",
                                   part, name, fmt::join(names, "', '")));
  };
  expectNames(options.loss.byName, "a loss");
  expectNames(options.loss_weights.byName, "a loss weight");
  expectNames(options.metrics.byName, "a metric");
  expectNames(options.weighted_metrics.byName, "a weighted metric");
  std::vector<TrainedOutput> created;
  for (size_t i = 0; i < count; ++i) {
    TrainedOutput output;
    // The numbers of the only output have no prefix.
    if (count > 1)
      output.name = names[i];
    output.loss = options.loss.shared;
    if (!options.loss.inOrder.empty())
      output.loss = options.loss.inOrder[i];
    else if (auto found = options.loss.byName.find(names[i]);
             found != options.loss.byName.end())
      output.loss = found->second;
    if (!options.loss_weights.inOrder.empty())
      output.weight = options.loss_weights.inOrder[i];
    else if (auto found = options.loss_weights.byName.find(names[i]);
             found != options.loss_weights.byName.end())
      output.weight = found->second;
    if (count > 1 && output.loss)
      output.mean.emplace(metrics::MetricOptions{names[i] + "_loss"});
    if (!batch.y.empty()) {
      output.metrics = metricsOf(options.metrics, i, count);
      output.weighted = metricsOf(options.weighted_metrics, i, count);
    }
    created.push_back(std::move(output));
  }
  outputs = std::move(created);
  loss.emplace("loss");
  onRead.reset();
}

Tensor Training::exampleWeights(const StepBatch &batch, size_t output,
                                bool isTraining) const {
  Tensor weights;
  if (batch.weights.size() > 1 && batch.weights.size() != outputs.size())
    refuseTraining(isTraining ? "fit" : "evaluate",
                   fmt::format("expected weights of examples, or some for each "
                               "of the model's {} outputs, got {}",
                               outputs.size(), batch.weights.size()));
  if (!batch.weights.empty())
    weights = batch.weights[batch.weights.size() == 1 ? 0 : output];
  if (!isTraining || !classTable.defined())
    return weights;
  if (outputs.size() > 1)
    refuseTraining("fit", fmt::format("class_weight is for models with one "
                                      "output, this one has {}: give weights "
                                      "of examples for each",
                                      outputs.size()));
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

template <typename F>
void Training::inPart(std::string_view part, size_t output, F &&run) const {
  CallSite site(compiledAt);
  try {
    run();
  } catch (const Error &error) {
    if (!error.isOfCodeClass())
      throw;
    std::string layer;
    if (auto *graph = dynamic_cast<ModelImpl *>(&model.implementation());
        graph && output < graph->outputs().size())
      layer = fmt::format(" of layer '{}'", graph->outputs()[output].name());
    error
        .withMessage(fmt::format("{}; in {} of {}{}", error.what(), part,
                                 outputs.size() > 1
                                     ? fmt::format("output {}", output)
                                     : std::string("the model's output"),
                                 layer))
        .raise();
  }
}

Tensor Training::measure(const StepBatch &batch,
                         const std::vector<Tensor> &results,
                         const std::vector<Tensor> &added, bool isTraining) {
  makeOutputs(batch, results, isTraining);
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
      Tensor value;
      inPart("the loss", i, [&] {
        value = output.loss(batch.y[i], results[i], weights, compiledAt);
      });
      if (output.mean)
        output.mean->update_state(value, examples);
      add(output.weight == 1 ? value : value * output.weight);
    }
    for (const auto *list : {&output.metrics, &output.weighted})
      for (const metrics::Metric &metric : *list)
        inPart(fmt::format("the metric '{}'", metric.name()), i, [&] {
          metric.update_state(batch.y[i], results[i],
                              list == &output.weighted ? weights : Tensor(),
                              compiledAt);
        });
  }
  for (const Tensor &term : added)
    add(term);
  if (total.defined())
    loss->update_state(total, examples);
  return total;
}

//===-- Calls -------------------------------------------------------------===//

std::vector<ConcreteFunction> Training::trainFunctions() const {
  std::vector<ConcreteFunction> functions = onTrain->concrete_functions();
  for (ConcreteFunction &loop : onTrainMany->concrete_functions())
    functions.push_back(std::move(loop));
  return functions;
}

std::vector<Tensor> Training::predict(const StepBatch &batch, Where where) {
  predictedAt = where;
  if (!onPredict)
    onPredict.emplace(
        [this](const std::vector<Tensor> &x) {
          return model.call_many(x, {.training = false}, predictedAt);
        },
        FunctionOptions{.name = "predict_step"},
        std::source_location::current());
  std::lock_guard lock(tracing);
  Scope scope(*this);
  return (*onPredict)(batch.x);
}

} // namespace meshloom::detail
