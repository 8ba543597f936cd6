// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Callbacks that decide when to stop and how fast to learn, and that keep what
// was seen, see Callbacks.h. The rules are Keras's.
#include "../Fields.h"
#include "CallbackState.h"
#include "Training.h"

#include "meshloom/API/Logging.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <limits>

namespace meshloom::callbacks {

using detail::Bound;

//===-- Monitor -----------------------------------------------------------===//

/// Returns whether larger is better for a metric that has that name, or is
/// shown under it.
static bool isMoreBetter(std::string_view metric) {
  return std::ranges::any_of(
      std::to_array<std::string_view>(
          {"acc", "accuracy", "auc", "precision", "recall", "sensitivity",
           "specificity", "io_u", "iou", "cosine_similarity", "correlation",
           "f1_score", "fbeta_score", "r2_score"}),
      [&](std::string_view end) { return metric.ends_with(end); });
}

Monitor::Monitor(std::string name, Mode mode, double min_delta)
    : name(std::move(name)), mode(mode),
      more(mode == Mode::Max ||
           (mode == Mode::Auto && isMoreBetter(this->name))),
      delta(std::abs(min_delta)) {}

void Monitor::resolve(const Model &model) {
  if (mode != Mode::Auto || !model.compiled())
    return;
  std::string_view shown = name;
  if (shown.starts_with("val_"))
    shown.remove_prefix(4);
  // The second of a name is "accuracy_1".
  std::string_view numbered = shown;
  if (const size_t end = shown.find_last_not_of("0123456789");
      end != shown.npos && end > 0 && end + 1 < shown.size() &&
      shown[end] == '_')
    numbered = shown.substr(0, end);
  auto isOf = [](std::string_view shown, const std::string &metric) {
    return shown == metric || shown.ends_with("_" + metric);
  };
  auto look = [&](const std::vector<metrics::Metric> &metrics) {
    for (const metrics::Metric &metric : metrics)
      if (!metric.id().empty() &&
          (isOf(shown, metric.name()) || isOf(numbered, metric.name())))
        more = isMoreBetter(metric.id());
  };
  const TrainingOptions &options = model.compile_options();
  for (const auto *list : {&options.metrics, &options.weighted_metrics}) {
    look(list->shared);
    for (const std::vector<metrics::Metric> &metrics : list->inOrder)
      look(metrics);
    for (const auto &[output, metrics] : list->byName)
      look(metrics);
  }
}

std::optional<double> Monitor::read(const Logs &logs,
                                    std::string_view callback) const {
  std::optional<double> value = logs.find(name);
  if (!value) {
    std::vector<std::string> names;
    for (auto &[key, number] : logs.values())
      names.push_back(key);
    detail::log(LogLevel::WARNING,
                fmt::format("[{}] '{}' is not among the numbers of this epoch, "
                            "which are: {}",
                            callback, name, fmt::join(names, ", ")));
  }
  return value;
}

bool Monitor::isBetter(double value, double reference) const {
  return more ? value - delta > reference : value + delta < reference;
}

double Monitor::worst() const {
  const double infinity = std::numeric_limits<double>::infinity();
  return more ? -infinity : infinity;
}

//===-- HistoryCallback ---------------------------------------------------===//

void HistoryCallback::on_train_begin(Logs &) {
  record = {};
}

void HistoryCallback::on_epoch_end(int64_t epoch, Logs &logs) {
  record.epoch.push_back(epoch);
  for (auto &[name, value] : logs.values()) {
    auto same = [&](auto &column) { return column.first == name; };
    auto found = std::ranges::find_if(record.history, same);
    if (found == record.history.end())
      found = record.history.insert(found, {name, {}});
    found->second.push_back(value);
  }
}

//===-- EarlyStopping -----------------------------------------------------===//

template <typename F> static void fields(F &field, EarlyStoppingOptions &o) {
  field("min_delta", o.min_delta, Bound::Finite);
  field("patience", o.patience, Bound::NotNegative);
  field("baseline", o.baseline, Bound::Finite);
  field("start_from_epoch", o.start_from_epoch, Bound::NotNegative);
}

EarlyStopping::EarlyStopping(EarlyStoppingOptions settings)
    : options(std::move(settings)),
      monitor(options.monitor, options.mode, options.min_delta) {
  detail::checkFields("EarlyStopping", options);
}

void EarlyStopping::on_train_begin(Logs &) {
  monitor.resolve(model());
  bestValue = monitor.worst();
  bestEpoch = waited = 0;
  stopped.reset();
  bestWeights.clear();
}

void EarlyStopping::keepWeights(int64_t epoch) {
  bestEpoch = epoch;
  if (options.restore_best_weights)
    bestWeights = model().get_weights();
}

void EarlyStopping::on_epoch_end(int64_t epoch, Logs &logs) {
  const std::optional<double> value = monitor.read(logs, "EarlyStopping");
  if (!value || epoch < options.start_from_epoch)
    return;
  if (options.restore_best_weights && bestWeights.empty())
    keepWeights(epoch);
  ++waited;
  if (monitor.isBetter(*value, bestValue)) {
    bestValue = *value;
    keepWeights(epoch);
    if (!options.baseline || monitor.isBetter(*value, *options.baseline))
      waited = 0;
    return;
  }
  if (waited < options.patience || epoch == 0)
    return;
  stopped = epoch;
  model().stop_training();
}

void EarlyStopping::on_train_end(Logs &) {
  if (stopped && options.verbose > 0)
    std::cout << "Epoch " << *stopped + 1 << ": early stopping\n";
  if (bestWeights.empty())
    return;
  if (options.verbose > 0)
    std::cout << "Restoring model weights from the end of the best epoch: "
              << bestEpoch + 1 << ".\n";
  model().set_weights(bestWeights);
}

CallbackState EarlyStopping::get_state() const {
  CallbackState state{.values =
                          nn::Config::Map{{"best", numberConfig(bestValue)},
                                          {"best_epoch", bestEpoch},
                                          {"wait", waited}}};
  if (stopped)
    state.values["stopped_epoch"] = *stopped;
  for (size_t i = 0; i < bestWeights.size(); ++i)
    state.tensors.emplace(fmt::format("best_weights/{}", i), bestWeights[i]);
  return state;
}

void EarlyStopping::set_state(const CallbackState &state) {
  bestValue = numberOf(state.values.at("best"));
  bestEpoch = state.values.at("best_epoch").as_int();
  waited = state.values.at("wait").as_int();
  stopped.reset();
  if (const nn::Config *epoch = state.values.find("stopped_epoch"))
    stopped = epoch->as_int();
  bestWeights.clear();
  for (size_t i = 0; i < state.tensors.size(); ++i)
    bestWeights.push_back(state.tensors.at(fmt::format("best_weights/{}", i)));
}

//===-- Learning rates ----------------------------------------------------===//

static constexpr char rateName[] = "learning_rate";

template <typename F>
static void fields(F &field, ReduceLROnPlateauOptions &o) {
  field("factor", o.factor, Bound::Decay); // the rate is multiplied by it
  field("patience", o.patience, Bound::NotNegative);
  field("min_delta", o.min_delta, Bound::Finite);
  field("cooldown", o.cooldown, Bound::NotNegative);
  field("min_lr", o.min_lr, Bound::NotNegative);
}

ReduceLROnPlateau::ReduceLROnPlateau(ReduceLROnPlateauOptions settings)
    : options(std::move(settings)),
      monitor(options.monitor, options.mode, options.min_delta) {
  detail::checkFields("ReduceLROnPlateau", options);
}

void ReduceLROnPlateau::on_train_begin(Logs &) {
  monitor.resolve(model());
  best = monitor.worst();
  waited = resting = 0;
}

void ReduceLROnPlateau::on_epoch_end(int64_t epoch, Logs &logs) {
  const double rate = model().learning_rate();
  logs.set(rateName, rate);
  const std::optional<double> value = monitor.read(logs, "ReduceLROnPlateau");
  if (!value)
    return;
  if (resting > 0) {
    --resting;
    waited = 0;
  }
  if (monitor.isBetter(*value, best)) {
    best = *value;
    waited = 0;
  } else if (resting == 0 && ++waited >= options.patience &&
             rate > options.min_lr) {
    const double lower = std::max(rate * options.factor, options.min_lr);
    model().set_learning_rate(lower);
    if (options.verbose > 0)
      fmt::print(
          "\nEpoch {}: ReduceLROnPlateau reducing learning rate to {}.\n",
          epoch + 1, lower);
    resting = options.cooldown;
    waited = 0;
  }
}

CallbackState ReduceLROnPlateau::get_state() const {
  return {.values = nn::Config::Map{{"best", numberConfig(best)},
                                    {"wait", waited},
                                    {"cooldown", resting}}};
}

void ReduceLROnPlateau::set_state(const CallbackState &state) {
  best = numberOf(state.values.at("best"));
  waited = state.values.at("wait").as_int();
  resting = state.values.at("cooldown").as_int();
}

LearningRateScheduler::LearningRateScheduler(Schedule function, int verbose,
                                             Checked checked)
    : schedule(std::move(function)), verbose(verbose) {
  if (!schedule)
    Error("[LearningRateScheduler] expected a function of the epoch, got "
          "an empty one")
        .atLine(checked.where)
        .raise();
}

LearningRateScheduler::Schedule
LearningRateScheduler::ofNumber(std::function<double(int64_t)> byEpoch) {
  if (!byEpoch)
    return nullptr;
  return [byEpoch = std::move(byEpoch)](int64_t epoch, double) {
    return byEpoch(epoch);
  };
}

void LearningRateScheduler::on_epoch_begin(int64_t epoch, Logs &) {
  const double rate = schedule(epoch, model().learning_rate());
  if (!std::isfinite(rate))
    Error(fmt::format("[LearningRateScheduler] expected a finite rate of "
                      "the schedule, got {} for epoch {}",
                      rate, epoch))
        .raise();
  model().set_learning_rate(rate);
  if (verbose > 0)
    fmt::print("\nEpoch {}: LearningRateScheduler setting learning rate to "
               "{}.\n",
               epoch + 1, rate);
}

void LearningRateScheduler::on_epoch_end(int64_t, Logs &logs) {
  logs.set(rateName, model().learning_rate());
}

//===-- SwapEMAWeights ----------------------------------------------------===//

void SwapEMAWeights::bring(bool averages) {
  if (hasAverages == averages)
    return;
  model().optimizer().swap_with_averages();
  hasAverages = averages;
}

void SwapEMAWeights::on_train_begin(Logs &) {
  // The end of training leaves averages in the model, swapped or not.
  hasAverages = false;
  if (!model().optimizer().keeps_averages())
    Error("[SwapEMAWeights] the model's optimizer keeps no averages: give "
          "it ema_momentum",
          ErrorCode::FAILED_PRECONDITION)
        .raise();
}
void SwapEMAWeights::on_epoch_begin(int64_t, Logs &) {
  bring(false);
}
void SwapEMAWeights::on_epoch_end(int64_t, Logs &) {
  if (options.swap_on_epoch)
    bring(true);
}
void SwapEMAWeights::on_test_begin(Logs &) {
  bring(true);
}
void SwapEMAWeights::on_test_end(Logs &) {
  bring(false);
}
void SwapEMAWeights::on_predict_begin(Logs &) {
  bring(true);
}
void SwapEMAWeights::on_predict_end(Logs &) {
  bring(false);
}

//===-- TerminateOnNaN, LambdaCallback ------------------------------------===//

void TerminateOnNaN::on_train_batch_end(int64_t batch, Logs &logs) {
  const std::optional<double> loss = logs.find("loss");
  if (!loss || std::isfinite(*loss))
    return;
  std::cout << "Batch " << batch << ": Invalid loss, terminating training\n";
  const detail::Training &training = *model().training();
  const std::string variables = training.nonFiniteVariables();
  detail::log(
      LogLevel::WARNING,
      fmt::format("[TerminateOnNaN] after training step {} the loss is {}{}; "
                  "compile with check_numerics names the op of the first nan",
                  training.steps, std::isnan(*loss) ? "nan" : "infinite",
                  variables.empty() ? ""
                                    : ", and a nan or an infinity is in the "
                                      "variables " +
                                          variables));
  model().stop_training();
}

void LambdaCallback::on_epoch_begin(int64_t epoch, Logs &logs) {
  if (functions.on_epoch_begin)
    functions.on_epoch_begin(epoch, logs);
}
void LambdaCallback::on_epoch_end(int64_t epoch, Logs &logs) {
  if (functions.on_epoch_end)
    functions.on_epoch_end(epoch, logs);
}
void LambdaCallback::on_train_begin(Logs &logs) {
  if (functions.on_train_begin)
    functions.on_train_begin(logs);
}
void LambdaCallback::on_train_end(Logs &logs) {
  if (functions.on_train_end)
    functions.on_train_end(logs);
}
void LambdaCallback::on_train_batch_begin(int64_t batch, Logs &logs) {
  if (functions.on_train_batch_begin)
    functions.on_train_batch_begin(batch, logs);
}
void LambdaCallback::on_train_batch_end(int64_t batch, Logs &logs) {
  if (functions.on_train_batch_end)
    functions.on_train_batch_end(batch, logs);
}

} // namespace meshloom::callbacks
