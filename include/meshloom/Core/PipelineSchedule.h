// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PipelineSchedule: the order in which the stages of a pipeline work on
// microbatches, the time that this takes, and where to cut a model into stages.
#pragma once

#include "meshloom/Core/Result.h"

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace meshloom {

/// The order in which stages work on the microbatches of a batch.
enum class PipelineSchedule : uint8_t {
  /// All forward, then all backward: each stage holds what the gradients of all
  /// microbatches need.
  GPIPE,
  /// Each stage takes turns, one forward and one backward, as soon as it can:
  /// it holds that of as many microbatches as there are stages from it to the
  /// last one.
  ONE_FORWARD_ONE_BACKWARD,
  /// The same where each set of devices has several stages: with n sets, stage
  /// i is on set i mod n. Sets wait less, for as many times less as each has
  /// stages, and hold more. The number of microbatches is a multiple of n.
  INTERLEAVED,
  /// One forward, one backward, where the gradients of a stage's variables come
  /// after the gradient that the stage before it waits for. They fill time in
  /// which stages would wait.
  ZERO_BUBBLE
};

/// A part of what a stage does with a microbatch.
enum class PipelineWork : uint8_t {
  FORWARD,
  BACKWARD,       ///< also computes the gradients of variables, unless
  WEIGHT_GRADIENT ///< the schedule has this, too
};

/// The work of one stage on one microbatch.
struct PipelineTask {
  int64_t stage = 0, microbatch = 0;
  PipelineWork work = PipelineWork::FORWARD;
  auto operator<=>(const PipelineTask &) const = default;
};

/// The numbers that decide the tasks of a pipeline and their order.
struct PipelineShape {
  int64_t stages = 1, microbatches = 1;
  PipelineSchedule schedule = PipelineSchedule::ONE_FORWARD_ONE_BACKWARD;
  /// The number of stages that each set of devices has: 1 unless the schedule
  /// is interleaved.
  int64_t stagesPerSet = 1;

  /// The number of sets of devices.
  int64_t sets() const { return stages / stagesPerSet; }
  /// The set of a stage.
  int64_t setOf(int64_t stage) const { return stage % sets(); }
};

/// Returns all tasks, in an order in which each comes after those that it
/// needs, and each set of devices follows the schedule. Fails if a number is
/// less than 1 or does not suit the schedule.
Result<std::vector<PipelineTask>> pipelineTasks(const PipelineShape &shape);

/// The picoseconds that a stage takes for one microbatch.
struct PipelineStageTime {
  int64_t forward = 0;
  int64_t backward = 0;       ///< without the gradients of variables
  int64_t weightGradient = 0; ///< the gradients of variables
  /// To send the result to the next stage, or its gradient back.
  int64_t transfer = 0;
};

/// The prediction of one step of a pipeline.
struct PipelinePrediction {
  int64_t time = 0; ///< of the step, in picoseconds
  /// The part of the time of all sets of devices in which they wait: 0 to 1.
  double bubble = 0;
  /// Per stage: the largest number of microbatches that it has begun, and whose
  /// gradients it has not computed.
  std::vector<int64_t> held;
};

/// Predicts a step in which each set of devices does one task at a time, in the
/// order of the schedule, and sends results while it works. `times`: of each
/// stage. Fails as `pipelineTasks` does, or if there is not one time, 0 or
/// more, for each stage.
Result<PipelinePrediction>
predictPipeline(const PipelineShape &shape,
                std::span<const PipelineStageTime> times);

/// Cuts the layers of a model, which take `times`, into `stages` stages of
/// consecutive layers, so that the slowest stage takes the least time. Returns
/// the first layer of each stage. Fails if there are fewer layers than stages,
/// no stage, or a time below 0.
Result<std::vector<size_t>> cutStages(std::span<const int64_t> times,
                                      size_t stages);

} // namespace meshloom
