// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CheckpointManager: the checkpoints of a training in a folder, of which the
// newest ones are kept.
#pragma once

#include "meshloom/NN/State/Checkpoint.h"

namespace meshloom {

/// The options of a CheckpointManager beside checkpoint and folder.
struct CheckpointManagerOptions {
  /// So many of the newest ones are kept; 0: all.
  int64_t max_to_keep = 5;
  /// Keeps one of the checkpoints that would go for good each time that so many
  /// hours have passed since the last one that was; 0: keeps none.
  double keep_checkpoint_every_n_hours = 0;
  /// Checkpoints are called so, a hyphen and their number.
  std::string checkpoint_name = "ckpt";
  /// Counts steps: with it checkpoints are numbered by steps.
  std::optional<DVariable> step_counter = std::nullopt;
  /// With step_counter: `save` does nothing where fewer steps have passed since
  /// the last one; 0: it always saves.
  int64_t checkpoint_interval = 0;
  /// Called by restore_or_initialize where there is no checkpoint.
  std::function<void()> init_fn = {};
  /// How checkpoints are written.
  CheckpointWriteOptions write = {};
};

/// Writes numbered checkpoints of one Checkpoint into a folder, and removes old
/// ones when a new one stands.
///
///   CheckpointManager manager(checkpoint, "checkpoints", {.max_to_keep = 3});
///   manager.restore_or_initialize();
///   for (...) {
///     step(...);
///     manager.save();
///   }
///
/// A handle: a copy is the same manager. Another manager of the folder, in a
/// later process, goes on with it.
class CheckpointManager {
public:
  /// Throws meshloom::Error if a number is negative, if there is an interval
  /// without step_counter, or if step_counter is not a scalar of integers.
  CheckpointManager(
      Checkpoint checkpoint, std::filesystem::path directory,
      CheckpointManagerOptions options = {},
      std::source_location where = std::source_location::current());

  /// Writes the next checkpoint and gives its path; none where the interval has
  /// not passed. `checkpoint_number`: default the step, else one more than the
  /// last one's. Throws meshloom::Error as Checkpoint::write.
  std::optional<std::filesystem::path>
  save(std::optional<int64_t> checkpoint_number = std::nullopt,
       std::source_location where = std::source_location::current()) const;
  /// Waits until what was started is written. Throws its meshloom::Error.
  void
  wait(std::source_location where = std::source_location::current()) const {
    checkpoint().wait(where);
  }

  /// Restores the newest checkpoint and gives its path; where there is none it
  /// calls init_fn and gives none. Throws meshloom::Error as
  /// Checkpoint::restore.
  std::optional<std::filesystem::path> restore_or_initialize(
      const RestoreOptions &options = {},
      std::source_location where = std::source_location::current()) const;

  /// The newest finished one.
  std::optional<std::filesystem::path> latest_checkpoint() const;
  /// All finished ones that are there, oldest first.
  std::vector<std::filesystem::path> checkpoints() const;
  /// The folder.
  const std::filesystem::path &directory() const;
  /// The checkpoint.
  const Checkpoint &checkpoint() const;

private:
  struct State;
  std::shared_ptr<State> state;
};

/// The finished checkpoint "NAME-N" in a folder with the largest N.
std::optional<std::filesystem::path>
latest_checkpoint(const std::filesystem::path &directory,
                  const std::string &checkpoint_name = "ckpt");

} // namespace meshloom
