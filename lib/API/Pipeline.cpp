// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines: tasks in the order of a schedule, each a part of the function, see
// DeviceCut.h. Devices take their parts in that order, and begin with one as
// soon as what it needs is there.
#include "meshloom/API/Pipeline.h"

#include "meshloom/Engine/DeviceSets.h"
#include "meshloom/Engine/Errors.h"
#include "meshloom/Engine/Processes.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/API/Ops.h"
#include "meshloom/API/Predict.h"
#include "meshloom/Core/MachineModel.h"
#include "meshloom/Dialect/DTensor/DeviceSets.h"
#include "meshloom/Support/MachineModelFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <ranges>
#include <set>

namespace meshloom {
using namespace detail;

namespace {

constexpr std::string_view pipelineOp = "pipeline";

/// While a scope lives, the function gets a part of its own.
class PartScope {
public:
  explicit PartScope(Trace &trace)
      : trace(trace), block(trace.builder().getInsertionBlock()),
        before(trace.lastOp()) {}
  ~PartScope() {
    static std::atomic<int64_t> count;
    Attribute part = trace.builder().getI64IntegerAttr(++count);
    if (trace.builder().getInsertionBlock() != block)
      return; // an error left it in the middle of a loop's body
    for (Operation *op = trace.lastOp(); op && op != before;
         op = op->getPrevNode())
      trace.note(op, dtensor::partAttr, part);
  }
  PartScope(const PartScope &) = delete;
  PartScope &operator=(const PartScope &) = delete;

private:
  Trace &trace;
  Block *block;
  Operation *before;
};

const Mesh &meshOf(const PipelineStage &stage) {
  return stage.input ? stage.input->mesh()
                     : stage.variables.front().layout().mesh();
}

/// The number of stages on each set of devices, for the schedule INTERLEAVED.
int64_t stagesPerSet(const std::vector<PipelineStage> &stages) {
  std::vector<int64_t> sets;
  for (const PipelineStage &stage : stages)
    sets.push_back(detail::deviceSetOf(meshOf(stage)));
  const size_t count = std::set(sets.begin(), sets.end()).size();
  if (sets.size() % count)
    fail(pipelineOp,
         fmt::format("the schedule INTERLEAVED expects a number of stages that "
                     "is a multiple of the {} sets of devices, got {}",
                     count, sets.size()));
  for (size_t i = count; i < sets.size(); ++i)
    if (sets[i] != sets[i - count])
      fail(pipelineOp,
           fmt::format("the schedule INTERLEAVED expects stage {} on the "
                       "devices of stage {}, {}, got {}",
                       i, i - count, deviceSetText(sets[i - count], {}),
                       deviceSetText(sets[i], {})));
  return int64_t(sets.size() / count);
}

Layout inputOf(const PipelineStage &stage, int64_t rank) {
  return stage.input ? *stage.input
                     : Layout::replicated(meshOf(stage), unsigned(rank));
}

/// Parts of a batch, each in `layout`.
std::vector<Tensor> microbatchesOf(const Tensor &batch, int64_t count,
                                   const Layout &layout,
                                   const std::source_location &where) {
  const Shape &shape = batch.shape();
  if (shape.empty() || shape[0] % count)
    fail(pipelineOp,
         fmt::format("expected a batch that {} microbatches divide along dim "
                     "0, got {}",
                     count, typeText(batch)),
         &where);
  std::vector<Tensor> parts;
  Shape begin(shape.size(), 0), size = shape;
  size[0] /= count;
  for (int64_t m = 0; m < count; ++m, begin[0] += size[0])
    parts.push_back(relayout(slice(batch, begin, size, where), layout, where));
  return parts;
}

/// Takes the ops after `before` that `value` does not need out of the trace,
/// and returns them in their order.
std::vector<Operation *> takeUnneeded(Trace &trace, Operation *before,
                                      Value value) {
  llvm::SmallPtrSet<Operation *, 16> needed;
  if (value && value.getDefiningOp())
    needed.insert(value.getDefiningOp());
  std::vector<Operation *> unneeded;
  for (Operation *op = trace.lastOp(); op && op != before;
       op = op->getPrevNode()) {
    if (!needed.contains(op)) {
      unneeded.push_back(op);
      continue;
    }
    op->walk([&](Operation *inner) {
      for (Value used : inner->getOperands())
        if (Operation *maker = used.getDefiningOp())
          needed.insert(maker);
    });
  }
  std::ranges::reverse(unneeded);
  for (Operation *op : unneeded)
    op->remove();
  return unneeded;
}

/// Adds the tasks of a step to the trace, in the order of its schedule.
class StepTracer {
public:
  StepTracer(const std::vector<PipelineStage> &stages,
             const PipelineShape &shape, const Pipeline::Loss &loss,
             const std::source_location &where)
      : trace(*threadState().trace()), stages(stages), shape(shape), loss(loss),
        where(where), work(stages.size()), sums(stages.size()) {
    for (std::vector<StageWork> &ofStage : work)
      ofStage.resize(size_t(shape.microbatches));
  }
  StepTracer(const StepTracer &) = delete;
  StepTracer &operator=(const StepTracer &) = delete;
  ~StepTracer() {
    for (std::vector<StageWork> &ofStage : work) // an error has ended the step
      for (StageWork &ofMicrobatch : ofStage)
        for (Operation *op : std::views::reverse(ofMicrobatch.later))
          op->erase();
  }

  PipelineGradients run(const Tensor &x, const Tensor &labels);

private:
  /// The results of a stage's tasks of a microbatch, until the last of them.
  struct StageWork {
    std::unique_ptr<GradientTape> tape;
    Tensor output;
    Tensor gradient; ///< of the loss to `output`, which the next stage gives
    std::vector<Tensor> gradients; ///< of the loss to the stage's variables
    /// The ops that compute only those, out of the trace until their task.
    std::vector<Operation *> later;
  };

  void cut(const Tensor &x, const Tensor &labels);
  void forward(size_t stage, size_t microbatch);
  void backward(size_t stage, size_t microbatch);
  void addGradients(size_t stage, size_t microbatch);
  StageWork *workBefore(size_t stage, size_t microbatch) {
    return stage ? &work[stage - 1][microbatch] : nullptr;
  }

  Trace &trace;
  const std::vector<PipelineStage> &stages;
  const PipelineShape &shape;
  const Pipeline::Loss &loss;
  const std::source_location &where;
  std::vector<Tensor> inputs, wanted;       ///< by microbatch
  std::vector<std::vector<StageWork>> work; ///< by stage and microbatch
  std::vector<std::vector<Tensor>> sums;    ///< of gradients, by stage
  Tensor total;
};

void StepTracer::cut(const Tensor &x, const Tensor &labels) {
  PartScope part(trace);
  if (x.rank() && labels.rank() && x.shape()[0] != labels.shape()[0])
    fail(pipelineOp,
         fmt::format("expected as many labels as examples, got {} and {}",
                     typeText(x), typeText(labels)),
         &where);
  inputs = microbatchesOf(x, shape.microbatches, inputOf(stages[0], x.rank()),
                          where);
  wanted = microbatchesOf(
      labels, shape.microbatches,
      Layout::replicated(meshOf(stages.back()), unsigned(labels.rank())),
      where);
}

void StepTracer::forward(size_t stage, size_t microbatch) {
  StageWork &current = work[stage][microbatch];
  current.tape = std::make_unique<GradientTape>();
  Tensor input;
  if (const StageWork *before = workBefore(stage, microbatch))
    input = relayout(before->output,
                     inputOf(stages[stage], before->output.rank()), where);
  else
    input = inputs[microbatch];
  current.output = stages[stage].forward(input);
  if (stage + 1 < stages.size())
    return;
  const Tensor mean = loss(current.output, wanted[microbatch]);
  if (mean.rank() != 0)
    fail(pipelineOp,
         fmt::format("expected a scalar loss, the mean over examples, got "
                     "{}: take its reduce_mean",
                     typeText(mean)),
         &where);
  current.output = mean / double(shape.microbatches);
  total = total.defined() ? total + current.output : current.output;
}

void StepTracer::backward(size_t stage, size_t microbatch) {
  StageWork &current = work[stage][microbatch];
  StageWork *before = workBefore(stage, microbatch);
  Operation *lastBefore = trace.lastOp();
  // The stage's results, weighed by the gradient to them.
  const Tensor target =
      stage + 1 == stages.size()
          ? current.output
          : reduce_sum(current.output * stop_gradient(current.gradient));
  const std::vector<DVariable> &variables = stages[stage].variables;
  std::vector<GradientSource> sources(variables.begin(), variables.end());
  if (before)
    sources.emplace_back(before->output);
  current.gradients = current.tape->gradient(target, sources,
                                             UnconnectedGradients::Zero, where);
  current.tape = nullptr;
  if (before) {
    before->gradient = current.gradients.back(); // on the devices before
    current.gradients.pop_back();
  }
  if (shape.schedule == PipelineSchedule::ZERO_BUBBLE)
    current.later = takeUnneeded(
        trace, lastBefore,
        before ? trace.valueOf(before->gradient, pipelineOp, &where) : Value());
  else
    addGradients(stage, microbatch);
}

void StepTracer::addGradients(size_t stage, size_t microbatch) {
  StageWork &current = work[stage][microbatch];
  for (Operation *op : std::exchange(current.later, {}))
    trace.builder().insert(op);
  std::vector<Tensor> &sum = sums[stage];
  if (sum.empty())
    sum = current.gradients;
  else
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] = sum[i] + current.gradients[i];
  current = StageWork();
}

PipelineGradients StepTracer::run(const Tensor &x, const Tensor &labels) {
  cut(x, labels);
  for (const auto &[stage, microbatch, kind] :
       check(pipelineTasks(shape), pipelineOp)) {
    PartScope part(trace);
    const auto s = size_t(stage), m = size_t(microbatch);
    if (kind == PipelineWork::FORWARD)
      forward(s, m);
    else if (kind == PipelineWork::BACKWARD)
      backward(s, m);
    else
      addGradients(s, m);
  }
  // All processes read the loss.
  if (ownerOf(meshOf(stages.back())))
    total =
        relayout(total,
                 Layout::replicated(
                     create_distributed_mesh({{"process", num_clients()}}), 0),
                 where);
  PipelineGradients result{total, {}};
  for (size_t s = 0; s < stages.size(); ++s)
    for (size_t i = 0; i < sums[s].size(); ++i)
      result.gradients.push_back({sums[s][i], stages[s].variables[i]});
  return result;
}

/// The program of one stage, and how long it would take.
class StageTimer {
public:
  /// `forward`: computes the stage's result, or the loss if it is the last one.
  StageTimer(const PipelineStage &stage, Tensor input,
             const MachineModel &machine,
             std::function<Tensor(const Tensor &)> forward)
      : stage(stage), input(std::move(input)), machine(machine),
        forward(std::move(forward)),
        result(function(this->forward).get_concrete_function(this->input)) {}

  /// The shape and type of what the stage gives the next one.
  ValueInfo output() const { return result.results().front(); }
  /// `isFirst`: no stage before it waits for a gradient.
  PipelineStageTime times(bool isFirst) const {
    PipelineStageTime time{.forward = predict(result, machine).time};
    const int64_t toInput =
        isFirst ? time.forward : timeOfGradients(true, false);
    const int64_t toAll =
        stage.variables.empty() ? toInput : timeOfGradients(!isFirst, true);
    time.backward = std::max<int64_t>(toInput - time.forward, 0);
    time.weightGradient = std::max<int64_t>(toAll - toInput, 0);
    if (!machine.sharedMemory) {
      const ValueInfo info = output();
      time.transfer = machine.defaultLink.latency +
                      timeFor(localBytes(info.layout, info.shape, info.dtype),
                              machine.defaultLink.bytesPerSecond);
    }
    return time;
  }

private:
  /// The time of the stage and the gradients to its input, its variables or
  /// both.
  int64_t timeOfGradients(bool toInput, bool toVariables) const {
    auto compute = function([&](const Tensor &x) {
      GradientTape tape;
      const Tensor y = forward(x);
      std::vector<GradientSource> sources;
      if (toInput)
        sources.emplace_back(x);
      if (toVariables)
        sources.insert(sources.end(), stage.variables.begin(),
                       stage.variables.end());
      return tape.gradient(std::vector{y}, sources, std::vector{y},
                           UnconnectedGradients::Zero);
    });
    return predict(compute.get_concrete_function(input), machine).time;
  }

  const PipelineStage &stage;
  const Tensor input;
  const MachineModel &machine;
  const std::function<Tensor(const Tensor &)> forward;
  const ConcreteFunction result;
};

} // namespace

struct Pipeline::State {
  std::vector<PipelineStage> stages;
  PipelineShape shape;

  Tensor run(const Tensor &x, const std::source_location &where) const;
  PipelineGradients differentiate(const Tensor &x, const Tensor &labels,
                                  const Loss &loss,
                                  const std::source_location &where) const {
    return StepTracer(stages, shape, loss, where).run(x, labels);
  }
};

Pipeline::Pipeline(std::vector<PipelineStage> stages, int64_t microbatches,
                   PipelineSchedule schedule) {
  for (size_t i = 0; i < stages.size(); ++i) {
    if (!stages[i].forward)
      fail(pipelineOp,
           fmt::format("expected a function for stage {}, got none", i));
    if (!stages[i].input && stages[i].variables.empty())
      fail(pipelineOp,
           fmt::format("stage {} has neither variables nor a layout of its "
                       "input, which would say on which devices it is",
                       i));
    for (const DVariable &variable : stages[i].variables)
      stateOf(variable, pipelineOp);
  }
  const PipelineShape shape{int64_t(stages.size()), microbatches, schedule,
                            schedule == PipelineSchedule::INTERLEAVED &&
                                    !stages.empty()
                                ? stagesPerSet(stages)
                                : 1};
  (void)check(pipelineTasks(shape), pipelineOp);
  state = std::make_shared<const State>(State{std::move(stages), shape});
}

Pipeline pipeline(std::vector<PipelineStage> stages, int64_t microbatches,
                  PipelineSchedule schedule, std::source_location where) {
  const UserLine line(where);
  return Pipeline(std::move(stages), microbatches, schedule);
}

Tensor Pipeline::State::run(const Tensor &x,
                            const std::source_location &where) const {
  Trace &trace = *threadState().trace();
  std::vector<Tensor> values;
  {
    PartScope part(trace);
    values = microbatchesOf(x, shape.microbatches, inputOf(stages[0], x.rank()),
                            where);
  }
  // Stages of one microbatch after those of the one before.
  for (Tensor &value : values)
    for (size_t s = 0; s < stages.size(); ++s) {
      PartScope part(trace);
      value = stages[s].forward(
          s ? relayout(value, inputOf(stages[s], value.rank()), where) : value);
    }
  return values.size() == 1 ? values.front() : concat(values, 0, where);
}

std::vector<PipelineStageTime>
Pipeline::stage_times(const Tensor &x, const Tensor &labels, const Loss &loss,
                      const std::string &machine,
                      std::source_location where) const {
  constexpr std::string_view op = "stage_times";
  CallSite site(where);
  if (isTracing())
    fail(op, "expected to be outside of a function: it compiles each stage by "
             "itself");
  const MachineModel model = check(loadMachineModel(machine), op);
  const std::vector<PipelineStage> &stages = state->stages;
  const int64_t count = state->shape.microbatches;
  const Layout ofLabels =
      Layout::replicated(meshOf(stages.back()), unsigned(labels.rank()));
  const Tensor wanted = microbatchesOf(labels, count, ofLabels, where).front();
  Tensor input =
      microbatchesOf(x, count, inputOf(stages[0], x.rank()), where).front();
  std::vector<PipelineStageTime> times;
  for (size_t s = 0; s < stages.size(); ++s) {
    const bool isLast = s + 1 == stages.size();
    std::function<Tensor(const Tensor &)> forward = stages[s].forward;
    if (isLast)
      forward = [&, compute = stages[s].forward](const Tensor &value) {
        return loss(compute(value), wanted);
      };
    const StageTimer timer(stages[s], input, model, std::move(forward));
    times.push_back(timer.times(/*isFirst=*/s == 0));
    if (isLast)
      break;
    const ValueInfo output = timer.output();
    input = relayout(zeros(output.shape, output.dtype),
                     inputOf(stages[s + 1], std::ssize(output.shape)), where);
  }
  return times;
}

PipelinePrediction predict_pipeline(const std::vector<PipelineStageTime> &times,
                                    int64_t microbatches,
                                    PipelineSchedule schedule,
                                    int64_t stages_per_set,
                                    std::source_location where) {
  const UserLine line(where);
  return check(predictPipeline({int64_t(times.size()), microbatches, schedule,
                                stages_per_set},
                               times),
               "predict_pipeline");
}

std::vector<size_t> cut_stages(const std::vector<int64_t> &times, size_t stages,
                               std::source_location where) {
  const UserLine line(where);
  return check(cutStages(times, stages), "cut_stages");
}

Tensor Pipeline::operator()(const Tensor &x, std::source_location where) const {
  CallSite site(where);
  if (isTracing())
    return state->run(x, where);
  return function([&](const Tensor &batch) { return state->run(batch, where); },
                  {.name = "pipeline"}, where)(x);
}

PipelineGradients Pipeline::gradients(const Tensor &x, const Tensor &labels,
                                      const Loss &loss,
                                      std::source_location where) const {
  CallSite site(where);
  if (isTracing())
    return state->differentiate(x, labels, loss, where);
  PipelineGradients result;
  const std::vector<Tensor> values = function(
      [&](const Tensor &batch, const Tensor &of) {
        result = state->differentiate(batch, of, loss, where);
        std::vector<Tensor> outputs{result.loss};
        for (const VariableGradient &entry : result.gradients)
          outputs.push_back(entry.gradient);
        return outputs;
      },
      {.name = "pipeline"}, where)(x, labels);
  result.loss = values.front();
  for (size_t i = 0; i < result.gradients.size(); ++i)
    result.gradients[i].gradient = values[i + 1];
  return result;
}

} // namespace meshloom
