// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Callbacks that write models: one to keep them, one to go on after a crash.
#pragma once

#include "meshloom/NN/Training/Callbacks.h"

#include <variant>

namespace meshloom {
class Checkpoint;
namespace detail {
struct Resumption;
}
} // namespace meshloom

namespace meshloom::callbacks {

/// When a model is written: at the end of each epoch, or whenever so many
/// batches were seen.
class SaveFrequency {
public:
  /// "epoch". Throws meshloom::Error if it is another text.
  SaveFrequency(const char *text);
  /// Batches, counted over epochs. Throws meshloom::Error if below 1.
  SaveFrequency(int64_t batches);
  /// None: at the end of epochs.
  std::optional<int64_t> batches;
};

/// The options of ModelCheckpoint beside the path.
struct ModelCheckpointOptions {
  std::string monitor = "val_loss";  ///< name of the number
  int verbose = 0;                   ///< 1: says what it writes
  bool save_best_only = false;       ///< only where the number got better
  bool save_weights_only = false;    ///< see save_weights; else see save
  Mode mode = Mode::Auto;            ///< which way is better
  SaveFrequency save_freq = "epoch"; ///< when it is written
  /// The value that the first saved one has to exceed.
  std::optional<double> initial_value_threshold = std::nullopt;
};

/// Writes the model, with its optimizer's state and what it was compiled with,
/// at the end of epochs, or every so many batches:
///
///   callbacks::ModelCheckpoint("ckpt/ckpt-{epoch}.keras")
///   callbacks::ModelCheckpoint("best-{val_loss:.2f}.keras",
///                              {.save_best_only = true})
///
/// The path may have {epoch} (from 1; {epoch:02d}: two digits), {batch} (from
/// 1) and the names of numbers; without any the newest one stays. load_model
/// reads it.
class ModelCheckpoint : public Callback {
public:
  /// See above.
  explicit ModelCheckpoint(std::filesystem::path filepath,
                           ModelCheckpointOptions options = {},
                           Where where = Where::current());
  void on_train_begin(Logs &logs) override;
  void on_epoch_begin(int64_t epoch, Logs &logs) override;
  void on_train_batch_end(int64_t batch, Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;
  CallbackState get_state() const override;
  void set_state(const CallbackState &state) override;
  /// The best number so far.
  double best() const { return bestValue; }

private:
  void write(std::optional<int64_t> batch, const Logs &logs);

  std::filesystem::path filepath;
  ModelCheckpointOptions options;
  Monitor monitor;
  double bestValue;
  int64_t currentEpoch = 0;
  int64_t seen = 0; ///< batches since the last time
  int64_t last = -1;
};

/// The options of BackupAndRestore beside the folder.
struct BackupAndRestoreOptions {
  SaveFrequency save_freq = "epoch"; ///< when the backup is written
  bool delete_checkpoint = true;     ///< when training is done
  /// When a process of the program gets SIGTERM, all write the backup after the
  /// batch and end.
  bool save_before_preemption = false;
};

/// Writes weights, the optimizer's state, what the callbacks have seen, the
/// numbers of the epoch so far and where training is into BACKUP_DIR/chief; a
/// fit that finds it there goes on after the last epoch or batch that it has:
///
///   model.fit(train, {.epochs = 10,
///                     .callbacks = {callbacks::BackupAndRestore("backup")}});
///
/// Batches that were seen in the epoch are taken from the dataset again, and
/// left out. So a training with restarts ends as one without. Any strategy and
/// layout restores what any other wrote. It comes after all other callbacks,
/// wherever it stands among them, but in on_train_begin.
///
/// States go by the callbacks' classes, and the place among those of a class. A
/// callback that the backup has no state for begins anew, with a warning. A
/// backup that was not written to its end, or not removed to its end, is none.
class BackupAndRestore : public Callback {
public:
  /// See above.
  explicit BackupAndRestore(std::filesystem::path backup_dir,
                            BackupAndRestoreOptions options = {},
                            Where where = Where::current());
  void on_train_begin(Logs &logs) override;
  void on_epoch_begin(int64_t epoch, Logs &logs) override;
  void on_train_batch_end(int64_t batch, Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;
  void on_train_end(Logs &logs) override;

private:
  struct Position;
  Checkpoint backup(Position &position, detail::Resumption &found) const;
  void write(int64_t epoch, int64_t batch);

  std::filesystem::path folder;
  BackupAndRestoreOptions options;
  int64_t currentEpoch = 0;
  int64_t seen = 0; ///< batches since the last time
  int64_t last = -1;
};

} // namespace meshloom::callbacks
