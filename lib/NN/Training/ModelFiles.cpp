// Callbacks that write models, see Checkpoints.h. The rules are Keras's.
#include "Training.h"

#include "meshloom/API/Logging.h"
#include "meshloom/API/Processes.h"
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
    throw Error(fmt::format("[SaveFrequency] expected \"epoch\" or a number of "
                            "batches, got \"{}\"",
                            text));
}

SaveFrequency::SaveFrequency(int64_t given) : batches(given) {
  if (given < 1)
    throw Error(
        fmt::format("[SaveFrequency] expected 1 batch or more, got {}", given));
}

/// Whether enough batches were seen, with this one of an epoch. `last`: the one
/// before it, which with steps_per_execution is some batches earlier.
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

ModelCheckpoint::ModelCheckpoint(fs::path path, ModelCheckpointOptions given)
    : filepath(std::move(path)), options(std::move(given)),
      monitor(options.monitor, options.mode, 0),
      bestValue(options.initial_value_threshold.value_or(monitor.worst())) {
  if (filepath.empty())
    throw Error("[ModelCheckpoint] expected the path of a model, got none");
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
  const size_t known = size_t(text.find("{epoch") != std::string::npos) +
                       size_t(text.find("{batch") != std::string::npos);
  if (braces > known)
    for (const auto &[name, value] : logs.values()) {
      names.push_back(name);
      numbers.push_back(fmt::arg(name.c_str(), value));
    }
  try {
    return fmt::vformat(text, numbers);
  } catch (const fmt::format_error &error) {
    throw Error(fmt::format("[ModelCheckpoint] the path '{}' asks for what is "
                            "not there ({}): the numbers are {}",
                            text, error.what(), fmt::join(names, ", ")));
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

//===-- BackupAndRestore --------------------------------------------------===//

namespace {

/// Where training goes on, as a Checkpoint has it.
struct Position {
  optimizers::Optimizer optimizer;
  int64_t epoch = 0, batch = 0;

  bool hasPlainRate() const {
    using Rate = decltype(optimizer.learning_rate().value);
    const Rate &rate = optimizer.learning_rate().value;
    return std::holds_alternative<double>(rate) ||
           std::holds_alternative<DVariable>(rate);
  }
  std::string save() const {
    Config config;
    config["epoch"] = epoch;
    config["batch"] = batch;
    if (hasPlainRate())
      config["learning_rate"] = optimizer.current_learning_rate();
    return config.to_json();
  }
  void restore(const std::string &text) {
    const Config config = Config::parse(text);
    epoch = config.at("epoch").as_int();
    batch = config.at("batch").as_int();
    // Set by callbacks before the crash.
    if (const Config *rate = config.find("learning_rate");
        rate && hasPlainRate() &&
        rate->as_double() != optimizer.current_learning_rate())
      optimizer.set_learning_rate(rate->as_double());
  }
};

Checkpoint backupOf(const Model &model, Position &position) {
  return Checkpoint({{"model", model},
                     {"optimizer", model.optimizer()},
                     {"position", &position}});
}

} // namespace

BackupAndRestore::BackupAndRestore(fs::path backup_dir,
                                   BackupAndRestoreOptions given)
    : folder(backup_dir / "chief"), options(std::move(given)) {
  if (backup_dir.empty())
    throw Error("[BackupAndRestore] expected a folder, got none");
}

void BackupAndRestore::on_train_begin(Logs &) {
  seen = 0;
  last = -1;
  if (options.save_before_preemption)
    detail::watchForPreemption();
  if (!fs::exists(folder))
    return;
  Position position{model().optimizer()};
  backupOf(model(), position).restore(folder);
  model().training()->resumed.emplace(position.epoch, position.batch);
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
  if (batch + 1 == params().steps)
    write(currentEpoch + 1, 0);
  else
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
  if (client_id() == 0) {
    fs::remove_all(folder);
    std::error_code isShared; // whatever else is there stays
    fs::remove(folder.parent_path(), isShared);
  }
  detail::waitForAll("BackupAndRestore");
}

void BackupAndRestore::write(int64_t epoch, int64_t batch) {
  Position position{model().optimizer(), epoch, batch};
  backupOf(model(), position).write(folder);
}

} // namespace meshloom::callbacks
