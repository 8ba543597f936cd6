// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedules of pipelines: each set of devices has a list of tasks, and a task
// is done in the first turn in which what it needs has been done before.
#include "meshloom/Core/PipelineSchedule.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <optional>

namespace meshloom {

namespace {
using enum PipelineWork;
using Tasks = std::vector<PipelineTask>;

std::optional<Error> mistakeIn(const PipelineShape &shape) {
  if (shape.stages < 1)
    return Error("expected at least one stage, got none");
  if (shape.microbatches < 1)
    return Error(fmt::format("expected at least 1 microbatch, got {}",
                             shape.microbatches));
  if (shape.stagesPerSet < 1 || shape.stages % shape.stagesPerSet)
    return Error(fmt::format("expected a number of stages that is a multiple "
                             "of the {} on each set of devices, got {}",
                             shape.stagesPerSet, shape.stages));
  if (shape.schedule != PipelineSchedule::INTERLEAVED) {
    if (shape.stagesPerSet != 1)
      return Error(fmt::format("only the schedule INTERLEAVED has several "
                               "stages on a set of devices, got {}",
                               shape.stagesPerSet));
  } else if (shape.microbatches % shape.sets()) {
    return Error(fmt::format(
        "the schedule INTERLEAVED expects a number of microbatches that is a "
        "multiple of the {} sets of devices, got {}",
        shape.sets(), shape.microbatches));
  }
  return std::nullopt;
}

/// Returns the tasks of one kind of a set of devices: as many microbatches as
/// there are sets go through all its stages before the next ones begin.
Tasks tasksOfKind(const PipelineShape &shape, int64_t set, PipelineWork work) {
  const int64_t sets = shape.sets(), perSet = shape.stagesPerSet;
  const int64_t group = perSet == 1 ? shape.microbatches : sets;
  Tasks tasks;
  for (int64_t first = 0; first < shape.microbatches; first += group)
    for (int64_t i = 0; i < perSet; ++i)
      for (int64_t m = first; m < first + group; ++m)
        tasks.push_back(
            {(work == FORWARD ? i : perSet - 1 - i) * sets + set, m, work});
  return tasks;
}

/// The number of tasks forward that a set does before its first one backward.
int64_t forwardFirst(const PipelineShape &shape, int64_t set) {
  const int64_t after = shape.sets() - set - 1;
  if (shape.schedule == PipelineSchedule::GPIPE)
    return shape.microbatches;
  if (shape.stagesPerSet == 1)
    return after + 1;
  return 2 * after + (shape.stagesPerSet - 1) * shape.sets() + 1;
}

/// Returns the tasks of a set of devices, one after the other.
Tasks tasksOfSet(const PipelineShape &shape, int64_t set) {
  const Tasks forward = tasksOfKind(shape, set, FORWARD);
  const Tasks backward = tasksOfKind(shape, set, BACKWARD);
  Tasks tasks;
  auto next = forward.begin();
  const auto takeForward = [&](int64_t count) {
    for (; count > 0 && next != forward.end(); --count)
      tasks.push_back(*next++);
  };
  takeForward(forwardFirst(shape, set));
  if (shape.schedule != PipelineSchedule::ZERO_BUBBLE) {
    for (const PipelineTask &task : backward) {
      tasks.push_back(task);
      takeForward(1);
    }
    return tasks;
  }
  // Stage i puts off the gradients of variables by i microbatches: then each
  // stage holds as many as there are stages.
  int64_t weights = 0;
  for (const PipelineTask &task : backward) {
    tasks.push_back(task);
    if (task.microbatch >= set)
      tasks.push_back({set, weights++, WEIGHT_GRADIENT});
    takeForward(1);
  }
  while (weights < shape.microbatches)
    tasks.push_back({set, weights++, WEIGHT_GRADIENT});
  return tasks;
}

/// Returns the tasks whose results `task` takes.
Tasks needsOf(const PipelineTask &task, int64_t stages) {
  const auto [stage, m, work] = task;
  if (work == WEIGHT_GRADIENT)
    return {{stage, m, BACKWARD}};
  if (work == FORWARD)
    return stage == 0 ? Tasks{} : Tasks{{stage - 1, m, FORWARD}};
  Tasks needs{{stage, m, FORWARD}};
  if (stage + 1 < stages)
    needs.push_back({stage + 1, m, BACKWARD});
  return needs;
}

int64_t timeOf(PipelineWork work, const PipelineStageTime &times,
               PipelineSchedule schedule) {
  switch (work) {
  case FORWARD:
    return times.forward;
  case BACKWARD:
    return times.backward + (schedule == PipelineSchedule::ZERO_BUBBLE
                                 ? 0
                                 : times.weightGradient);
  case WEIGHT_GRADIENT:
    return times.weightGradient;
  }
  return 0;
}

/// Returns, for each stage, the largest number of microbatches that it holds.
std::vector<int64_t> mostHeld(const Tasks &tasks, const PipelineShape &shape) {
  const PipelineWork last = shape.schedule == PipelineSchedule::ZERO_BUBBLE
                                ? WEIGHT_GRADIENT
                                : BACKWARD;
  std::vector<int64_t> held(size_t(shape.stages)), most(held);
  for (const auto &[stage, m, work] : tasks) {
    held[size_t(stage)] += int64_t(work == FORWARD) - int64_t(work == last);
    most[size_t(stage)] = std::max(most[size_t(stage)], held[size_t(stage)]);
  }
  return most;
}

} // namespace

Result<std::vector<PipelineTask>> pipelineTasks(const PipelineShape &shape) {
  if (std::optional<Error> mistake = mistakeIn(shape))
    return *mistake;
  std::vector<Tasks> waiting;
  size_t count = 0;
  for (int64_t set = 0; set < shape.sets(); ++set)
    count += waiting.emplace_back(tasksOfSet(shape, set)).size();
  std::vector<size_t> next(waiting.size(), 0);
  std::map<PipelineTask, size_t> turns;
  Tasks tasks;
  // In each turn every set does its next task, if what that needs was done in
  // an earlier one. Sets follow orders that never wait in a circle, so each
  // turn does something.
  for (size_t turn = 0; tasks.size() < count; ++turn)
    for (size_t set = 0; set < waiting.size(); ++set) {
      if (next[set] == waiting[set].size())
        continue;
      const PipelineTask &task = waiting[set][next[set]];
      const Tasks needs = needsOf(task, shape.stages);
      if (!std::ranges::all_of(needs, [&](const PipelineTask &need) {
            const auto found = turns.find(need);
            return found != turns.end() && found->second < turn;
          }))
        continue;
      ++next[set];
      turns[task] = turn;
      tasks.push_back(task);
    }
  return tasks;
}

Result<PipelinePrediction>
predictPipeline(const PipelineShape &shape,
                std::span<const PipelineStageTime> times) {
  const Result<Tasks> tasks = pipelineTasks(shape);
  if (!tasks)
    return tasks.error();
  if (int64_t(times.size()) != shape.stages)
    return Error(fmt::format("expected the times of {} stages, got {}",
                             shape.stages, times.size()));
  for (size_t stage = 0; stage < times.size(); ++stage) {
    const PipelineStageTime &t = times[stage];
    if (std::min({t.forward, t.backward, t.weightGradient, t.transfer}) < 0)
      return Error(fmt::format(
          "expected times of at least 0 picoseconds, got less for stage {}",
          stage));
  }
  const int64_t sets = shape.sets();
  std::vector<int64_t> freeAt(size_t(sets), 0);
  std::map<PipelineTask, int64_t> ends;
  PipelinePrediction prediction;
  double busy = 0;
  for (const PipelineTask &task : *tasks) {
    int64_t &end = freeAt[size_t(shape.setOf(task.stage))];
    for (const PipelineTask &need : needsOf(task, shape.stages)) {
      const bool moves = shape.setOf(need.stage) != shape.setOf(task.stage);
      const auto sender = size_t(std::min(need.stage, task.stage));
      end = std::max(end, ends[need] + (moves ? times[sender].transfer : 0));
    }
    const int64_t time =
        timeOf(task.work, times[size_t(task.stage)], shape.schedule);
    ends[task] = end += time;
    busy += double(time);
    prediction.time = std::max(prediction.time, end);
  }
  if (prediction.time)
    prediction.bubble = 1 - busy / (double(sets) * double(prediction.time));
  prediction.held = mostHeld(*tasks, shape);
  return prediction;
}

Result<std::vector<size_t>> cutStages(std::span<const int64_t> times,
                                      size_t stages) {
  const size_t layers = times.size();
  if (stages < 1 || stages > layers)
    return Error(fmt::format(
        "expected 1 to {} stages, as many as there are layers, got {}", layers,
        stages));
  std::vector<int64_t> before{0}; // the time of all layers before one
  for (size_t layer = 0; layer < layers; ++layer) {
    if (times[layer] < 0)
      return Error(
          fmt::format("expected times of at least 0, got {} for layer {}",
                      times[layer], layer));
    before.push_back(before.back() + times[layer]);
  }
  constexpr int64_t none = std::numeric_limits<int64_t>::max();
  // slowest[s][l]: the time of the slowest of the first s stages, which have
  // the first l layers. begin[s][l]: the first layer of the last of them.
  std::vector slowest(stages + 1, std::vector<int64_t>(layers + 1, none));
  std::vector begin(stages + 1, std::vector<size_t>(layers + 1, 0));
  slowest[0][0] = 0;
  for (size_t stage = 1; stage <= stages; ++stage)
    for (size_t end = stage; end <= layers; ++end)
      for (size_t first = stage - 1; first < end; ++first) {
        const int64_t time =
            std::max(slowest[stage - 1][first], before[end] - before[first]);
        if (time < slowest[stage][end]) {
          slowest[stage][end] = time;
          begin[stage][end] = first;
        }
      }
  std::vector<size_t> cuts(stages);
  for (size_t stage = stages, end = layers; stage > 0; --stage)
    end = cuts[stage - 1] = begin[stage][end];
  return cuts;
}

} // namespace meshloom
