// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The callbacks that Keras has: when to stop, the learning rate, progress and
// logs. TensorBoard.h has the one that writes event files, Checkpoints.h those
// that write models.
#pragma once

#include "meshloom/API/Ops.h"
#include "meshloom/NN/Training/Callback.h"

#include <filesystem>
#include <iosfwd>

namespace meshloom::callbacks {

/// Says whether less or more of a number is better.
enum class Mode : uint8_t {
  Auto, ///< more of accuracies, areas, precision, recall, ...; else less
  Min,  ///< less
  Max   ///< more
};

/// Looks for one of the numbers of an epoch, and whether it got better.
class Monitor {
public:
  /// It counts as better where it is so by more than `min_delta`.
  Monitor(std::string name, Mode mode, double min_delta);
  /// Finds out which way is better where that was left to it: by the name, or
  /// by the metric of the model that is shown under that name.
  void resolve(const Model &model);
  /// The number, or none, which is warned of.
  std::optional<double> read(const Logs &logs, std::string_view callback) const;
  /// Returns whether `value` is better than `reference`.
  bool isBetter(double value, double reference) const;
  /// A number than which every number is better.
  double worst() const;

private:
  std::string name;
  Mode mode;
  bool more;
  double delta;
};

/// Keeps the numbers of every epoch; `fit` returns those of one of its own.
class HistoryCallback : public Callback {
public:
  void on_train_begin(Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;
  /// The numbers since training began.
  const History &history() const { return record; }

private:
  History record;
};

/// The options of EarlyStopping.
struct EarlyStoppingOptions {
  std::string monitor = "val_loss"; ///< name of the number
  double min_delta = 0;             ///< less than this is not an improvement
  int64_t patience = 0;             ///< epochs without improvement to go on for
  int verbose = 0;                  ///< 1: says that it stopped
  Mode mode = Mode::Auto;           ///< which way is better
  std::optional<double> baseline =
      std::nullopt; ///< what is to be reached first
  /// When training ends, whoever ended it, the model gets the weights of its
  /// best epoch.
  bool restore_best_weights = false;
  int64_t start_from_epoch = 0;   ///< epochs before this one do not count
  Where where = Where::current(); ///< the line that errors name
};

/// Stops training where a number no longer improves.
class EarlyStopping : public Callback {
public:
  /// EarlyStopping({.patience = 3}).
  explicit EarlyStopping(EarlyStoppingOptions options = {});
  /// EarlyStopping("loss").
  template <std::convertible_to<std::string> S>
  explicit EarlyStopping(S &&monitor)
      : EarlyStopping(
            EarlyStoppingOptions{.monitor = std::forward<S>(monitor)}) {}
  void on_train_begin(Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;
  void on_train_end(Logs &logs) override;
  CallbackState get_state() const override;
  void set_state(const CallbackState &state) override;
  /// The epoch that it stopped after; none: it did not.
  std::optional<int64_t> stopped_epoch() const { return stopped; }
  /// The best number so far.
  double best() const { return bestValue; }
  /// The epoch of the best number.
  int64_t best_epoch() const { return bestEpoch; }

private:
  void keepWeights(int64_t epoch);

  EarlyStoppingOptions options;
  Monitor monitor;
  double bestValue = 0;
  int64_t bestEpoch = 0, waited = 0;
  std::optional<int64_t> stopped;
  std::vector<Tensor> bestWeights;
};

/// The options of ReduceLROnPlateau.
struct ReduceLROnPlateauOptions {
  std::string monitor = "val_loss"; ///< name of the number
  double factor = 0.1;              ///< the rate is multiplied by this, below 1
  int64_t patience = 10;            ///< epochs without improvement to go on for
  int verbose = 0;                  ///< 1: says what it did
  Mode mode = Mode::Auto;           ///< which way is better
  double min_delta = 1e-4;          ///< less than this is not an improvement
  int64_t cooldown = 0;             ///< epochs to rest after a reduction
  double min_lr = 0;                ///< the least rate
  Where where = Where::current();   ///< the line that errors name
};

/// Reduces the learning rate where a number no longer improves. Sets
/// "learning_rate" in the logs.
class ReduceLROnPlateau : public Callback {
public:
  /// Throws meshloom::Error if the factor is not below 1.
  explicit ReduceLROnPlateau(ReduceLROnPlateauOptions options = {});
  /// ReduceLROnPlateau("loss").
  template <std::convertible_to<std::string> S>
  explicit ReduceLROnPlateau(S &&monitor)
      : ReduceLROnPlateau(
            ReduceLROnPlateauOptions{.monitor = std::forward<S>(monitor)}) {}
  void on_train_begin(Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;
  CallbackState get_state() const override;
  void set_state(const CallbackState &state) override;

private:
  ReduceLROnPlateauOptions options;
  Monitor monitor;
  double best = 0;
  int64_t waited = 0, resting = 0;
};

/// Sets the learning rate of each epoch by a function of the epoch's number, or
/// of the number and the rate so far. Sets "learning_rate" in the logs.
class LearningRateScheduler : public Callback {
public:
  /// The rate of an epoch, by its number and the rate before it.
  using Schedule = std::function<double(int64_t epoch, double rate)>;
  /// `verbose` 1: says what it sets. Throws meshloom::Error if it is an empty
  /// std::function or a null pointer, as the next one does.
  template <typename F>
    requires std::is_invocable_r_v<double, F &, int64_t, double>
  explicit LearningRateScheduler(F schedule, int verbose = 0,
                                 Where where = Where::current())
      : LearningRateScheduler(Schedule(std::move(schedule)), verbose,
                              Checked{where}) {}
  /// By the number alone.
  template <typename F>
    requires std::is_invocable_r_v<double, F &, int64_t>
  explicit LearningRateScheduler(F byEpoch, int verbose = 0,
                                 Where where = Where::current())
      : LearningRateScheduler(
            ofNumber(std::function<double(int64_t)>(std::move(byEpoch))),
            verbose, Checked{where}) {}
  void on_epoch_begin(int64_t epoch, Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;

private:
  /// Tells the constructor that checks apart, and has the line that it names.
  struct Checked {
    Where where;
  };
  LearningRateScheduler(Schedule schedule, int verbose, Checked);
  static Schedule ofNumber(std::function<double(int64_t)> byEpoch);

  Schedule schedule;
  int verbose;
};

/// Stops training where the loss of a batch is nan or infinite. Each step then
/// waits for its loss.
class TerminateOnNaN : public Callback {
public:
  void on_train_batch_end(int64_t batch, Logs &logs) override;
};

/// The options of SwapEMAWeights.
struct SwapEMAWeightsOptions {
  /// Also between epochs: callbacks that come after it, such as
  /// ModelCheckpoint, find the averages in the model.
  bool swap_on_epoch = false;
};

/// While the model is evaluated, its weights are the averages that its
/// optimizer keeps of them (ema_momentum).
class SwapEMAWeights : public Callback {
public:
  /// SwapEMAWeights({.swap_on_epoch = true}).
  explicit SwapEMAWeights(SwapEMAWeightsOptions options = {})
      : options(options) {}
  /// Throws meshloom::Error if the optimizer keeps no averages.
  void on_train_begin(Logs &logs) override;
  void on_epoch_begin(int64_t epoch, Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;
  void on_test_begin(Logs &logs) override;
  void on_test_end(Logs &logs) override;
  void on_predict_begin(Logs &logs) override;
  void on_predict_end(Logs &logs) override;

private:
  void bring(bool averages);

  SwapEMAWeightsOptions options;
  bool hasAverages = false; ///< the model, now
};

/// Functions that are called, where they are given.
struct LambdaCallbackOptions {
  /// With an epoch or a batch.
  using OfNumber = std::function<void(int64_t, Logs &)>;
  /// With logs.
  using OfLogs = std::function<void(Logs &)>;
  OfNumber on_epoch_begin = {};       ///< see Callback
  OfNumber on_epoch_end = {};         ///< see Callback
  OfLogs on_train_begin = {};         ///< see Callback
  OfLogs on_train_end = {};           ///< see Callback
  OfNumber on_train_batch_begin = {}; ///< see Callback
  OfNumber on_train_batch_end = {};   ///< see Callback
};

/// Calls functions:
///
///   callbacks::LambdaCallback({.on_epoch_end = [](int64_t epoch, Logs &logs) {
///     std::cout << epoch << ' ' << logs.at("loss") << '\n';
///   }});
class LambdaCallback : public Callback {
public:
  /// See LambdaCallbackOptions.
  explicit LambdaCallback(LambdaCallbackOptions functions)
      : functions(std::move(functions)) {}
  void on_epoch_begin(int64_t epoch, Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;
  void on_train_begin(Logs &logs) override;
  void on_train_end(Logs &logs) override;
  void on_train_batch_begin(int64_t batch, Logs &logs) override;
  void on_train_batch_end(int64_t batch, Logs &logs) override;

private:
  LambdaCallbackOptions functions;
};

/// The options of CSVLogger.
struct CSVLoggerOptions {
  std::string separator = ","; ///< between the numbers of a line
  bool append = false;         ///< goes on with a file that is there
};

/// Writes a line with the numbers of each epoch, sorted by name; NA where there
/// is none. If several processes train a model together, the first one writes.
/// A training that goes on from a backup goes on with the file, which loses the
/// lines of epochs that are trained again.
class CSVLogger : public Callback {
public:
  /// CSVLogger("log.csv").
  explicit CSVLogger(std::filesystem::path file, CSVLoggerOptions options = {});
  /// Throws meshloom::Error if the file cannot be written.
  void on_train_begin(Logs &logs) override;
  void on_epoch_begin(int64_t epoch, Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;
  CallbackState get_state() const override;
  void set_state(const CallbackState &state) override;

private:
  void clear();
  void write(const std::string &line);

  std::filesystem::path file;
  CSVLoggerOptions options;
  std::vector<std::string> names; ///< of the columns, "epoch" left out
  bool hasHeader = false;
  bool isCleared = false; ///< what was there before is gone, or goes on
};

/// Shows the progress of training, evaluation and prediction, as `verbose` of
/// `fit` says: a bar, or a line an epoch. fit has one of its own.
class ProgbarLogger : public Callback {
public:
  /// Writes to std::cout, or to `out`, which is not a terminal: a bar is
  /// written once then, when it is full.
  explicit ProgbarLogger(std::ostream *out = nullptr);
  void on_train_begin(Logs &logs) override;
  void on_train_end(Logs &logs) override;
  void on_epoch_begin(int64_t epoch, Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;
  void on_train_batch_end(int64_t batch, Logs &logs) override;
  void on_test_begin(Logs &logs) override;
  void on_test_end(Logs &logs) override;
  void on_test_batch_end(int64_t batch, Logs &logs) override;
  void on_predict_begin(Logs &logs) override;
  void on_predict_end(Logs &logs) override;
  void on_predict_batch_end(int64_t batch, Logs &logs) override;

private:
  void begin();
  void show(int64_t batch, Logs &logs);
  void finish(Logs &logs);

  std::ostream &out;
  bool isTerminal, isTraining = false;
  int64_t done = 0;                            ///< batches of this epoch
  double began = 0, afterFirst = 0, shown = 0; ///< seconds
  size_t width = 0;                            ///< letters of what is shown
};

} // namespace meshloom::callbacks
