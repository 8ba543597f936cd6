// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Training that a machine may end at any time: SIGTERM is taken as a notice,
// and what was learnt is written before the program ends.
#pragma once

#include "meshloom/NN/State/CheckpointManager.h"

namespace meshloom {

namespace detail {
/// From now on SIGTERM does not end this process, but is remembered.
void watchForPreemption();
/// Returns whether one of the processes of this program has got it. Collective.
bool isAnyPreempted();
/// Ends a program as one that SIGTERM has ended.
[[noreturn]] void exitPreempted();
} // namespace detail

/// How a preempted program ends.
struct TerminationConfig {
  /// Called in all processes when the checkpoint is written; empty: the program
  /// ends with status 143, as SIGTERM would end it.
  std::function<void()> exit_fn = {};
};

/// Runs the steps of a training. When one of its processes is told to end by
/// SIGTERM, all of them end the same step, write a checkpoint and end. A
/// program that is started again goes on from there.
///
///   PreemptionCheckpointHandler handler(Checkpoint({{"model", model}}),
///   "ckpt"); while (handler.total_run_calls() < 1000)
///     handler.run(step, iterator.get_next());
///
/// All processes of the program make it and call `run` alike. A copy is the
/// same handler.
class PreemptionCheckpointHandler {
public:
  /// Restores the newest checkpoint that one wrote in `directory`, where there
  /// is one. Throws meshloom::Error as Checkpoint::restore.
  PreemptionCheckpointHandler(Checkpoint checkpoint,
                              std::filesystem::path directory,
                              TerminationConfig termination = {});

  /// The result of fn(args...). Does not return where a process was told to
  /// end.
  template <typename F, typename... Args>
  auto run(F &&fn, const Args &...args) const {
    if constexpr (std::is_void_v<std::invoke_result_t<F &, const Args &...>>) {
      fn(args...);
      endStep();
    } else {
      auto result = fn(args...);
      endStep();
      return result;
    }
  }
  /// How often `run` was called, over all starts of the program.
  int64_t total_run_calls() const;

private:
  void endStep() const;
  struct State;
  std::shared_ptr<State> state;
};

} // namespace meshloom
