// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines: a model whose parts are on different devices, trained so that all
// of them work at the same time.
#pragma once

#include "meshloom/API/Distribute.h"
#include "meshloom/API/GradientTape.h"
#include "meshloom/Core/PipelineSchedule.h"

#include <functional>

namespace meshloom {

/// A part of a model.
struct PipelineStage {
  /// Computes the stage from the result of the stage before it (from the batch,
  /// if it is the first): tensors whose dim 0 is that of examples.
  std::function<Tensor(const Tensor &)> forward;
  /// The variables that are trained, on the devices of the stage.
  std::vector<DVariable> variables;
  /// How its input lies on its devices, such as batch-sharded. None: replicated
  /// on those of its first variable.
  std::optional<Layout> input = std::nullopt;
};

/// The loss of a batch, and gradients.
struct PipelineGradients {
  Tensor loss;         ///< the mean of those of the microbatches
  Gradients gradients; ///< of `loss`, stage by stage, variable by variable
};

/// A model in stages; see `pipeline`. May be used from any thread.
class Pipeline {
public:
  /// The loss of the last stage's result (on its devices) and the labels: a
  /// scalar, the mean over examples.
  using Loss =
      std::function<Tensor(const Tensor &predictions, const Tensor &labels)>;

  /// See `pipeline`.
  Pipeline(std::vector<PipelineStage> stages, int64_t microbatches,
           PipelineSchedule schedule);

  /// The last stage's result of batch `x`, on its devices. Throws
  /// meshloom::Error if `microbatches` does not divide the batch.
  Tensor operator()(const Tensor &x, std::source_location where =
                                         std::source_location::current()) const;
  /// The loss of a batch and its gradients: those of the model without a
  /// pipeline. Inside of a `function` it is a part of that. Throws
  /// meshloom::Error if the batches of `x` and `labels` differ, if
  /// `microbatches` does not divide them, or if a loss is not a scalar.
  PipelineGradients
  gradients(const Tensor &x, const Tensor &labels, const Loss &loss,
            std::source_location where = std::source_location::current()) const;

  /// The predicted times of each stage for one microbatch of the batch `x` on
  /// another machine, a preset ("gpu:h100") or a JSON file. Stages are taken to
  /// be in different hosts, and send each other results over the machine's
  /// default link; where devices share memory, they send nothing. Compiles the
  /// stages, and runs none. `predict_pipeline` takes the times, and
  /// `cut_stages` the sums of those of single layers. Throws meshloom::Error as
  /// `gradients` and `predict` do.
  std::vector<PipelineStageTime> stage_times(
      const Tensor &x, const Tensor &labels, const Loss &loss,
      const std::string &machine,
      std::source_location where = std::source_location::current()) const;

private:
  struct State;
  std::shared_ptr<const State> state;
};

/// A model that is the composition of `stages`, each on devices of its own. A
/// batch is cut into `microbatches` along dim 0, which go from stage to stage;
/// each stage works on one of them while the others work on others.
///
///   Pipeline model = pipeline({{first, {w1}}, {second, {w2}}}, 4);
///   auto step = function([&](const Tensor &x, const Tensor &y) {
///     auto [loss, gradients] = model.gradients(x, y, meanSquaredError);
///     for (const VariableGradient &each : gradients)
///       each.variable.assign_sub(0.1 * each.gradient);
///     return loss;
///   });
///
/// Throws meshloom::Error if there is no stage, if `microbatches` is less than
/// 1, if a stage has neither a function nor devices, or if the schedule is
/// INTERLEAVED, and stage i is not on the set of devices i mod n, n being the
/// number of sets, or n does not divide the numbers of stages and microbatches.
Pipeline
pipeline(std::vector<PipelineStage> stages, int64_t microbatches,
         PipelineSchedule schedule = PipelineSchedule::ONE_FORWARD_ONE_BACKWARD,
         std::source_location where = std::source_location::current());

/// Predicts a step of a pipeline from the times of its stages, in picoseconds,
/// as `predict` gives them for a machine: its time, how long devices wait, and
/// how many microbatches each stage holds. `microbatches` and `schedule` are
/// those of the pipeline. Throws meshloom::Error as `pipeline` does, or if a
/// time is negative or the stages have none.
PipelinePrediction predict_pipeline(
    const std::vector<PipelineStageTime> &times, int64_t microbatches,
    PipelineSchedule schedule = PipelineSchedule::ONE_FORWARD_ONE_BACKWARD,
    int64_t stages_per_set = 1,
    std::source_location where = std::source_location::current());

/// Cuts layers, whose times are `times`, into `stages` stages of consecutive
/// layers, so that the slowest stage takes the least time. Returns the number
/// of the first layer of each stage. Throws meshloom::Error if there are fewer
/// layers than stages, no stage, or a time below 0.
std::vector<size_t>
cut_stages(const std::vector<int64_t> &times, size_t stages,
           std::source_location where = std::source_location::current());

} // namespace meshloom
