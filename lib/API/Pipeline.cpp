// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines: tasks in the order of a schedule, each a part of the function, see
// DeviceCut.h. Devices take their parts in that order, and begin with one as
// soon as what it needs is there.
#include "meshloom/API/Pipeline.h"

#include "meshloom/Engine/DeviceSets.h"
#include "meshloom/Engine/Processes.h"

#include "meshloom/API/Function.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/API/Ops.h"
#include "meshloom/Dialect/DTensor/DeviceSets.h"

#include <fmt/format.h>

#include <atomic>

namespace meshloom {
using namespace detail;

namespace {

constexpr std::string_view pipelineOp = "pipeline";

/// Returns the tasks of a stage, one after the other.
std::vector<PipelineTask> tasksOfStage(int64_t stage, int64_t stages,
                                       int64_t microbatches,
                                       PipelineSchedule schedule) {
  const int64_t ahead =
      schedule == PipelineSchedule::GPIPE
          ? microbatches
          : std::min(stages - stage, microbatches); // before the first backward
  std::vector<PipelineTask> tasks;
  for (int64_t m = 0; m < ahead; ++m)
    tasks.push_back({stage, m, false});
  for (int64_t m = 0; m < microbatches; ++m) {
    tasks.push_back({stage, m, true});
    if (m + ahead < microbatches)
      tasks.push_back({stage, m + ahead, false});
  }
  return tasks;
}

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

Layout inputOf(const PipelineStage &stage, int64_t rank) {
  return stage.input
             ? *stage.input
             : Layout::replicated(stage.variables.front().layout().mesh(),
                                  unsigned(rank));
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

} // namespace

std::vector<PipelineTask> detail::pipelineTasks(int64_t stages,
                                                int64_t microbatches,
                                                PipelineSchedule schedule) {
  std::vector<std::vector<PipelineTask>> waiting;
  for (int64_t stage = 0; stage < stages; ++stage)
    waiting.push_back(tasksOfStage(stage, stages, microbatches, schedule));
  // Microbatches that a stage has done, in its order.
  std::vector<int64_t> forward(size_t(stages), 0), backward(size_t(stages), 0);
  std::vector<size_t> next(size_t(stages), 0);
  std::vector<PipelineTask> tasks;
  // Turn by turn: in each, every stage does its next task if what it needs was
  // done in an earlier one. A stage that is ahead of all that others need can
  // always go on, so each turn does something.
  while (tasks.size() < size_t(2 * stages * microbatches)) {
    const auto forwardBefore = forward, backwardBefore = backward;
    for (size_t stage = 0; stage < size_t(stages); ++stage) {
      if (next[stage] == waiting[stage].size())
        continue;
      const PipelineTask &task = waiting[stage][next[stage]];
      const bool isReady =
          task.isBackward
              ? (stage + 1 == size_t(stages)
                     ? forwardBefore[stage] > task.microbatch
                     : backwardBefore[stage + 1] > task.microbatch)
              : stage == 0 || forwardBefore[stage - 1] > task.microbatch;
      if (!isReady)
        continue;
      ++(task.isBackward ? backward : forward)[stage];
      ++next[stage];
      tasks.push_back(task);
    }
  }
  return tasks;
}

struct Pipeline::State {
  std::vector<PipelineStage> stages;
  int64_t microbatches;
  PipelineSchedule schedule;

  Tensor run(const Tensor &x, const std::source_location &where) const;
  PipelineGradients differentiate(const Tensor &x, const Tensor &labels,
                                  const Loss &loss,
                                  const std::source_location &where) const;
  /// The devices of the last stage.
  const Mesh &lastMesh() const {
    const PipelineStage &last = stages.back();
    return last.input ? last.input->mesh()
                      : last.variables.front().layout().mesh();
  }
};

Pipeline::Pipeline(std::vector<PipelineStage> stages, int64_t microbatches,
                   PipelineSchedule schedule) {
  if (stages.empty())
    fail(pipelineOp, "expected at least one stage, got none");
  if (microbatches < 1)
    fail(pipelineOp,
         fmt::format("expected at least 1 microbatch, got {}", microbatches));
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
  state = std::make_shared<const State>(
      State{std::move(stages), microbatches, schedule});
}

Pipeline pipeline(std::vector<PipelineStage> stages, int64_t microbatches,
                  PipelineSchedule schedule) {
  return Pipeline(std::move(stages), microbatches, schedule);
}

Tensor Pipeline::State::run(const Tensor &x,
                            const std::source_location &where) const {
  Trace &trace = *threadState().trace();
  std::vector<Tensor> values;
  {
    PartScope part(trace);
    values =
        microbatchesOf(x, microbatches, inputOf(stages[0], x.rank()), where);
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

PipelineGradients
Pipeline::State::differentiate(const Tensor &x, const Tensor &labels,
                               const Loss &loss,
                               const std::source_location &where) const {
  Trace &trace = *threadState().trace();
  const size_t last = stages.size() - 1;
  std::vector<Tensor> inputs, wanted;
  {
    PartScope part(trace);
    if (x.rank() && labels.rank() && x.shape()[0] != labels.shape()[0])
      fail(pipelineOp,
           fmt::format("expected as many labels as examples, got {} and {}",
                       typeText(x), typeText(labels)),
           &where);
    inputs =
        microbatchesOf(x, microbatches, inputOf(stages[0], x.rank()), where);
    wanted = microbatchesOf(
        labels, microbatches,
        Layout::replicated(lastMesh(), unsigned(labels.rank())), where);
  }
  /// The results of a task forward, until the task backward.
  struct Done {
    std::unique_ptr<GradientTape> tape;
    Tensor output;
    Tensor gradient; ///< of the loss to `output`, which the next stage gives
  };
  std::vector<std::vector<Done>> done(stages.size());
  for (std::vector<Done> &ofStage : done)
    ofStage.resize(size_t(microbatches));
  std::vector<std::vector<Tensor>> sums(stages.size());
  Tensor total;
  for (const PipelineTask &task :
       pipelineTasks(int64_t(stages.size()), microbatches, schedule)) {
    const auto s = size_t(task.stage), m = size_t(task.microbatch);
    const PipelineStage &stage = stages[s];
    Done &current = done[s][m];
    Done *before = s ? &done[s - 1][m] : nullptr;
    PartScope part(trace);
    if (!task.isBackward) {
      current.tape = std::make_unique<GradientTape>();
      current.output = stage.forward(
          before ? relayout(before->output,
                            inputOf(stage, before->output.rank()), where)
                 : inputs[m]);
      if (s < last)
        continue;
      const Tensor mean = loss(current.output, wanted[m]);
      if (mean.rank() != 0)
        fail(pipelineOp,
             fmt::format("expected a scalar loss, the mean over examples, got "
                         "{}: take its reduce_mean",
                         typeText(mean)),
             &where);
      current.output = mean / double(microbatches);
      total = total.defined() ? total + current.output : current.output;
      continue;
    }
    // The stage's results, weighed by the gradient to them.
    const Tensor target =
        s == last
            ? current.output
            : reduce_sum(current.output * stop_gradient(current.gradient));
    std::vector<GradientSource> sources(stage.variables.begin(),
                                        stage.variables.end());
    if (before)
      sources.emplace_back(before->output);
    std::vector<Tensor> found = current.tape->gradient(
        target, sources, UnconnectedGradients::Zero, where);
    current = Done();
    if (before) {
      before->gradient = found.back(); // on the devices of the stage before
      found.pop_back();
    }
    if (sums[s].empty())
      sums[s] = found;
    else
      for (size_t i = 0; i < found.size(); ++i)
        sums[s][i] = sums[s][i] + found[i];
  }

  // All processes read the loss.
  if (ownerOf(lastMesh()))
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
