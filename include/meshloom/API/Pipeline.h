// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines: a model whose parts are on different devices, trained so that all
// of them work at the same time.
#pragma once

#include "meshloom/API/Distribute.h"
#include "meshloom/API/GradientTape.h"

#include <functional>

namespace meshloom {

/// The order in which stages work on the microbatches of a batch.
enum class PipelineSchedule : uint8_t {
  /// All forward, then all backward: each stage holds what the gradients of all
  /// microbatches need.
  GPIPE,
  /// Each stage takes turns, one forward and one backward, as soon as it can:
  /// it
  /// holds that of as many microbatches as there are stages from it to the last
  /// one.
  ONE_FORWARD_ONE_BACKWARD
};

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
/// 1, if a stage has neither a function nor devices.
Pipeline pipeline(
    std::vector<PipelineStage> stages, int64_t microbatches,
    PipelineSchedule schedule = PipelineSchedule::ONE_FORWARD_ONE_BACKWARD);

namespace detail {
/// The work of one stage on one microbatch.
struct PipelineTask {
  int64_t stage, microbatch;
  bool isBackward;
  bool operator==(const PipelineTask &) const = default;
};
/// All of them, in an order in which each comes after those that it needs, and
/// each stage follows the schedule.
std::vector<PipelineTask> pipelineTasks(int64_t stages, int64_t microbatches,
                                        PipelineSchedule schedule);
} // namespace detail

} // namespace meshloom
