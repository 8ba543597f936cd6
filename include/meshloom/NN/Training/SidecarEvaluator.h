// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluation of a model beside the processes that train it.
#pragma once

#include "meshloom/NN/Models/Model.h"

#include <filesystem>
#include <source_location>

namespace meshloom {

/// The options of a SidecarEvaluator.
struct SidecarEvaluatorOptions {
  /// Batches of an evaluation; default: all there are.
  std::optional<int64_t> steps = std::nullopt;
  /// `start` returns after the checkpoint of this number; default: never.
  std::optional<int64_t> max_evaluations = std::nullopt;
  std::vector<callbacks::CallbackRef> callbacks = {}; ///< of each evaluation
  std::string checkpoint_name = "ckpt";               ///< of "ckpt-12"
  double poll_seconds = 1; ///< between two looks at the folder
};

/// Evaluates every new checkpoint of a model, in a process that does nothing
/// else: the task "evaluator" of a cluster with parameter servers.
///
///   SidecarEvaluator(model, batches, "checkpoints", {.max_evaluations = 5})
///       .start();
///
/// The training writes the checkpoints with a CheckpointManager whose
/// Checkpoint calls the model "model"; what else is in them is left out.
class SidecarEvaluator {
public:
  /// `model` is compiled. A model without variables yet gets them from a batch
  /// of `data`. Throws meshloom::Error if a number is not above 0.
  SidecarEvaluator(Model model, TrainingData data,
                   std::filesystem::path checkpoint_dir,
                   SidecarEvaluatorOptions options = {});

  /// Waits for checkpoints and evaluates the newest one; checkpoints that come
  /// meanwhile are left out but for the newest. Returns the numbers of the last
  /// evaluation. Throws meshloom::Error as evaluate and Checkpoint::restore.
  Logs
  start(std::source_location where = std::source_location::current()) const;

private:
  struct State;
  std::shared_ptr<const State> state;
};

} // namespace meshloom
