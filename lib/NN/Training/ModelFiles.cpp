// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Callbacks that write models, see Checkpoints.h. The rules are Keras's.
#include "CallbackState.h"
#include "Training.h"

#include "meshloom/API/Logging.h"
#include "meshloom/API/Processes.h"
#include "meshloom/Data/TensorFolder.h"
#include "meshloom/NN/Config.h"
#include "meshloom/NN/State/SavedModel.h"
#include "meshloom/NN/Training/Checkpoints.h"
#include "meshloom/NN/Training/Preemption.h"

#include <fmt/args.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <iostream>

namespace meshloom::callbacks {

namespace fs = std::filesystem;

//===-- SaveFrequency -----------------------------------------------------===//

SaveFrequency::SaveFrequency(const char *text) {
  if (std::string_view(text) != "epoch")
    Error(fmt::format("[SaveFrequency] expected \"epoch\" or a number of "
                      "batches, got \"{}\"",
                      text))
        .raise();
}

SaveFrequency::SaveFrequency(int64_t count) : batches(count) {
  if (count < 1)
    Error(
        fmt::format("[SaveFrequency] expected 1 batch or more, got {}", count))
        .raise();
}

/// Returns whether enough batches were seen, with this one of an epoch. `last`:
/// the one before it, which with steps_per_execution is some batches earlier.
static bool isTime(const SaveFrequency &frequency, int64_t batch, int64_t &last,
                   int64_t &seen) {
  if (!frequency.batches)
    return false;
  seen += batch <= last ? batch + 1 : batch - last;
  last = batch;
  if (seen < *frequency.batches)
    return false;
  seen = 0;
  return true;
}

//===-- ModelCheckpoint ---------------------------------------------------===//

ModelCheckpoint::ModelCheckpoint(fs::path path, ModelCheckpointOptions settings,
                                 Where where)
    : filepath(std::move(path)), options(std::move(settings)),
      monitor(options.monitor, options.mode, 0),
      bestValue(options.initial_value_threshold.value_or(monitor.worst())) {
  if (filepath.empty())
    meshloom::detail::fail("ModelCheckpoint",
                           "expected the path of a model, got none", &where);
}

void ModelCheckpoint::on_train_begin(Logs &) {
  monitor.resolve(model());
  if (std::isinf(bestValue))
    bestValue = monitor.worst();
  seen = 0;
  last = -1;
}

void ModelCheckpoint::on_epoch_begin(int64_t epoch, Logs &) {
  currentEpoch = epoch;
}

void ModelCheckpoint::on_train_batch_end(int64_t batch, Logs &logs) {
  if (isTime(options.save_freq, batch, last, seen))
    write(batch, logs);
}

void ModelCheckpoint::on_epoch_end(int64_t, Logs &logs) {
  if (!options.save_freq.batches)
    write(std::nullopt, logs);
}

/// The path with the numbers that it asks for.
static fs::path filled(const fs::path &pattern, int64_t epoch,
                       std::optional<int64_t> batch, const Logs &logs) {
  const std::string text = pattern.string();
  if (text.find('{') == std::string::npos)
    return pattern;
  fmt::dynamic_format_arg_store<fmt::format_context> numbers;
  std::vector<std::string> names = {"epoch"};
  numbers.push_back(fmt::arg("epoch", epoch + 1));
  if (batch) {
    names.emplace_back("batch");
    numbers.push_back(fmt::arg("batch", *batch + 1));
  }
  // Numbers of a batch are read from the devices only where they are asked for.
  const size_t braces = size_t(std::ranges::count(text, '{'));
  const size_t standard = size_t(text.find("{epoch") != std::string::npos) +
                          size_t(text.find("{batch") != std::string::npos);
  if (braces > standard)
    for (const auto &[name, value] : logs.values()) {
      names.push_back(name);
      numbers.push_back(fmt::arg(name.c_str(), value));
    }
  try {
    return fmt::vformat(text, numbers);
  } catch (const fmt::format_error &error) {
    Error(fmt::format("[ModelCheckpoint] the path '{}' names a number that "
                      "does not exist ({}): the numbers are {}",
                      text, error.what(), fmt::join(names, ", ")))
        .raise();
  }
}

void ModelCheckpoint::write(std::optional<int64_t> batch, const Logs &logs) {
  std::string why;
  if (options.save_best_only) {
    const std::optional<double> value = monitor.read(logs, "ModelCheckpoint");
    if (!value)
      return;
    if (!monitor.isBetter(*value, bestValue)) {
      if (options.verbose > 0)
        std::cout << fmt::format("\nEpoch {}: {} did not improve from {:.5f}\n",
                                 currentEpoch + 1, options.monitor, bestValue);
      return;
    }
    why = fmt::format(" {} improved from {:.5f} to {:.5f},", options.monitor,
                      bestValue, *value);
    bestValue = *value;
  }
  const fs::path path = filled(filepath, currentEpoch, batch, logs);
  if (options.verbose > 0)
    std::cout << fmt::format("\nEpoch {}:{} saving model to {}\n",
                             currentEpoch + 1, why, path.string());
  if (options.save_weights_only)
    save_weights(model(), path);
  else
    save(model(), path);
}

CallbackState ModelCheckpoint::get_state() const {
  return {.values = nn::Config::Map{{"best", numberConfig(bestValue)},
                                    {"batches_since_save", seen},
                                    {"last_batch", last}}};
}

void ModelCheckpoint::set_state(const CallbackState &state) {
  bestValue = numberOf(state.values.at("best"));
  seen = state.values.at("batches_since_save").as_int();
  last = state.values.at("last_batch").as_int();
}

//===-- BackupAndRestore --------------------------------------------------===//

/// Where training goes on, as a Checkpoint has it.
struct BackupAndRestore::Position {
  Model model;
  optimizers::Optimizer optimizer;
  int64_t epoch = 0, batch = 0;
  bool isStopped = false;

  bool hasPlainRate() const {
    using Rate = decltype(optimizer.learning_rate().value);
    const Rate &rate = optimizer.learning_rate().value;
    return std::holds_alternative<double>(rate) ||
           std::holds_alternative<DVariable>(rate);
  }
  std::string save() const {
    nn::Config config;
    config["epoch"] = epoch;
    config["batch"] = batch;
    config["steps"] = model.steps_taken();
    config["stopped"] = isStopped;
    if (hasPlainRate())
      config["learning_rate"] = optimizer.current_learning_rate();
    return config.to_json();
  }
  void restore(const std::string &text) {
    const nn::Config config = nn::Config::parse(text);
    epoch = config.at("epoch").as_int();
    batch = config.at("batch").as_int();
    // Backups of earlier versions say nothing of these.
    if (const nn::Config *steps = config.find("steps"))
      model.training()->steps = steps->as_int();
    if (const nn::Config *stopped = config.find("stopped"))
      isStopped = stopped->as_bool();
    // Set by callbacks before the crash.
    if (const nn::Config *rate = config.find("learning_rate");
        rate && hasPlainRate() &&
        rate->as_double() != optimizer.current_learning_rate())
      optimizer.set_learning_rate(rate->as_double());
  }
};

namespace {
/// While it lives, weights are not averages.
class SwappedBack {
public:
  explicit SwappedBack(optimizers::Optimizer swapped)
      : optimizer(std::move(swapped)), wasSwapped(optimizer.is_swapped()) {
    if (wasSwapped)
      optimizer.swap_with_averages();
  }
  ~SwappedBack() {
    if (wasSwapped)
      optimizer.swap_with_averages();
  }
  SwappedBack(const SwappedBack &) = delete;
  SwappedBack &operator=(const SwappedBack &) = delete;

private:
  optimizers::Optimizer optimizer;
  bool wasSwapped;
};
} // namespace

/// The backup's checkpoint: it is written from, or restored into, `found`.
Checkpoint BackupAndRestore::backup(Position &position,
                                    detail::Resumption &found) const {
  using State = std::optional<CallbackState>;
  Checkpoint::Objects objects{
      {"model", position.model},
      {"optimizer", position.optimizer},
      {"position", &position},
      {"numbers", Trackable(Trackable::Parts{[&found] { return found.numbers; },
                                             [&found](const State &state) {
                                               found.numbers = state;
                                             }})}};
  for (const auto &[name, callback] : model().training()->callbacks->byName())
    objects.emplace_back("callback/" + name,
                         Trackable(Trackable::Parts{
                             [callback]() -> State {
                               CallbackState state = callback->get_state();
                               return state.empty() ? State()
                                                    : State(std::move(state));
                             },
                             [&found, name](const State &state) {
                               if (state)
                                 found.callbacks.emplace(name, *state);
                             }}));
  return Checkpoint(std::move(objects));
}

BackupAndRestore::BackupAndRestore(fs::path backup_dir,
                                   BackupAndRestoreOptions settings,
                                   Where where)
    : folder(backup_dir / "chief"), options(std::move(settings)) {
  if (backup_dir.empty())
    meshloom::detail::fail("BackupAndRestore", "expected a folder, got none",
                           &where);
}

void BackupAndRestore::on_train_begin(Logs &) {
  seen = 0;
  last = -1;
  if (options.save_before_preemption)
    detail::watchForPreemption();
  // One that was not written, or not removed, to its end is none.
  if (!data::is_tensor_folder(folder))
    return;
  Position position{model(), model().optimizer()};
  detail::Resumption found;
  // Callbacks that are no more had something there.
  backup(position, found).restore(folder, {.allow_extra_objects = true});
  found.epoch = position.epoch;
  found.batch = position.batch;
  model().training()->resumed = std::move(found);
  if (position.isStopped)
    model().stop_training();
  // Batches of an epoch that goes on are counted from where it was.
  last = position.batch - 1;
}

void BackupAndRestore::on_epoch_begin(int64_t epoch, Logs &) {
  currentEpoch = epoch;
}

void BackupAndRestore::on_train_batch_end(int64_t batch, Logs &) {
  const bool isPreempted =
      options.save_before_preemption && detail::isAnyPreempted();
  if (!isTime(options.save_freq, batch, last, seen) && !isPreempted)
    return;
  write(currentEpoch, batch + 1);
  if (isPreempted)
    detail::exitPreempted();
}

void BackupAndRestore::on_epoch_end(int64_t epoch, Logs &) {
  if (!options.save_freq.batches)
    write(epoch + 1, 0);
}

void BackupAndRestore::on_train_end(Logs &) {
  if (!options.delete_checkpoint)
    return;
  // One of several processes removes what they wrote together, before any of
  // them looks for it again.
  std::exception_ptr failure;
  if (client_id() == 0) {
    try {
      if (data::is_tensor_folder(folder))
        data::remove_tensor_folder(folder);
    } catch (const std::exception &error) {
      if (data::is_tensor_folder(folder))
        failure = std::current_exception();
      else // it fell, and what is left of it is in nobody's way
        detail::log(LogLevel::WARNING, error.what());
    }
    std::error_code isShared; // whatever else is there stays
    fs::remove(folder.parent_path(), isShared);
  }
  detail::waitForAll("BackupAndRestore");
  if (failure)
    std::rethrow_exception(failure);
}

void BackupAndRestore::write(int64_t epoch, int64_t batch) {
  detail::Training &training = *model().training();
  Position position{model(), model().optimizer(), epoch, batch};
  detail::Resumption now;
  if (batch > 0)
    now.numbers = training.epochNumbers();
  // In the middle of an epoch its end is still to come.
  position.isStopped = batch == 0 && training.stops;
  const SwappedBack asStepsNeedThem(position.optimizer);
  backup(position, now).write(folder);
}

} // namespace meshloom::callbacks
