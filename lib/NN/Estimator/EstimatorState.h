// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state of an Estimator: its options, and the role of this process among
// those of its cluster.
#pragma once

#include "meshloom/Distribute/ParameterServer/ParameterServerStrategy.h"
#include "meshloom/Distribute/Strategy.h"
#include "meshloom/NN/Estimator/Estimator.h"

namespace meshloom::estimator {

/// The role of a process.
enum class Role : uint8_t {
  Alone,    ///< trains and evaluates
  Together, ///< trains, with others that do the same
  Leads,    ///< has the workers of parameter servers train
  Serves,   ///< holds variables, or runs steps
  Evaluates ///< waits for checkpoints
};

struct Estimator::State {
  ModelFunction modelFunction;
  RunConfig config;
  /// The cluster of TF_CONFIG, without an evaluator; empty: there is none.
  ClusterSpec cluster;
  std::optional<TaskId> task;

  Role role() const;
  /// The scope that models are made in: of the strategy that fits the role,
  /// which is made at the first time; null where there is none, or the program
  /// is in one.
  std::unique_ptr<StrategyScope> scope();
  /// Serves the chief until it has gone.
  void serve();
  /// Returns whether this process writes checkpoints' lines and summaries.
  bool isWriter() const;

  /// Called with global_step when a checkpoint was written.
  using AfterCheckpoint = std::function<void(int64_t step)>;
  int64_t train(const InputFunction &input_fn, std::optional<int64_t> max_steps,
                const AfterCheckpoint &afterCheckpoint);

private:
  std::optional<Strategy> strategy;
};

/// global_step of the newest checkpoint; none: there is no checkpoint.
std::optional<int64_t> newestStep(const std::filesystem::path &modelFolder);

} // namespace meshloom::estimator
