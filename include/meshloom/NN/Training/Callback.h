// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Callback: what is called at the beginning and end of training, epochs and
// batches. Callbacks.h has those that are known by name in Keras.
#pragma once

#include "meshloom/API/Tensor.h"
#include "meshloom/NN/Config.h"
#include "meshloom/NN/Training/Logs.h"

#include <concepts>
#include <map>
#include <memory>

namespace meshloom {

class Model;

/// The parameters of a training, as callbacks see them.
struct TrainingParameters {
  int64_t epochs = 1;           ///< the number of the last one, from 1
  std::optional<int64_t> steps; ///< batches of an epoch, where that is known
  int verbose = 0;              ///< 0: silent, 1: a bar, 2: a line an epoch
  bool validates = false;       ///< whether epochs end with an evaluation
};

/// Callbacks of training.
namespace callbacks {

/// The state of a callback, so that it can go on after a restart.
struct CallbackState {
  nn::Config values = {};                     ///< numbers, texts, lists, maps
  std::map<std::string, Tensor> tensors = {}; ///< by name, such as weights

  /// Returns whether there is nothing to keep.
  bool empty() const { return values.is_null() && tensors.empty(); }
};

/// Base of callbacks: each function does nothing. Derive from it, and give an
/// object to fit:
///
///   struct Halve : callbacks::Callback {
///     void on_epoch_end(int64_t epoch, Logs &logs) override {
///       if (logs.at("loss") > 1)
///         model().set_learning_rate(model().learning_rate() / 2);
///     }
///   };
///   Halve halve;
///   model.fit(dataset, {.epochs = 5, .callbacks = {halve}});
///
/// A callback that remembers something from epoch to epoch says so by get_state
/// and set_state: BackupAndRestore keeps it with the weights, and a training
/// that goes on after a restart gives it back. A Checkpoint takes a pointer to
/// the callback:
///
///   struct Worst : callbacks::Callback {
///     double loss = 0;
///     void on_epoch_end(int64_t, Logs &logs) override {
///       loss = std::max(loss, logs.at("loss"));
///     }
///     callbacks::CallbackState get_state() const override {
///       return {.values = Config::Map{{"loss", loss}}};
///     }
///     void set_state(const callbacks::CallbackState &state) override {
///       loss = state.values.at("loss").as_double();
///     }
///   };
///
/// Epochs and batches are counted from 0. With steps_per_execution = n, those
/// of batches are called once in n of them: at the beginning with the number of
/// the first one, at the end with that of the last one.
class Callback {
public:
  /// The type of configs, for classes that derive from this.
  using Config = nn::Config;
  Callback() = default;
  /// For classes that derive from it.
  Callback(const Callback &) = default;
  /// For classes that derive from it.
  Callback &operator=(const Callback &) = default;
  virtual ~Callback();

  virtual void on_train_begin(Logs &logs);                      ///< of fit
  virtual void on_train_end(Logs &logs);                        ///< of fit
  virtual void on_epoch_begin(int64_t epoch, Logs &logs);       ///< of fit
  virtual void on_epoch_end(int64_t epoch, Logs &logs);         ///< of fit
  virtual void on_train_batch_begin(int64_t batch, Logs &logs); ///< of fit
  virtual void on_train_batch_end(int64_t batch, Logs &logs);   ///< of fit
  virtual void on_test_begin(Logs &logs); ///< of evaluate, in fit as well
  virtual void on_test_end(Logs &logs);   ///< of evaluate, in fit as well
  virtual void on_test_batch_begin(int64_t batch, Logs &logs); ///< of evaluate
  virtual void on_test_batch_end(int64_t batch, Logs &logs);   ///< of evaluate
  virtual void on_predict_begin(Logs &logs);                   ///< of predict
  virtual void on_predict_end(Logs &logs);                     ///< of predict
  virtual void on_predict_batch_begin(int64_t batch,
                                      Logs &logs);              ///< of predict
  virtual void on_predict_batch_end(int64_t batch, Logs &logs); ///< of predict

  /// The state of the callback so far; by default empty. Called after the
  /// functions above, whenever the state of training is written.
  virtual CallbackState get_state() const;
  /// Takes what get_state gave. Called after on_train_begin where training goes
  /// on from a backup, and before the first epoch of it.
  virtual void set_state(const CallbackState &state);

  /// The model that is trained. Throws meshloom::Error where none is: before
  /// the first call.
  Model &model() const;
  /// The parameters of the running training.
  const TrainingParameters &params() const { return parameters; }

private:
  friend class CallbackList;
  Model *trained = nullptr;
  TrainingParameters parameters;
};

/// A callback as fit takes it. One with a name is referred to, so that it can
/// be asked afterwards, and must live as long as fit runs; a temporary is taken
/// over:
///
///   callbacks::EarlyStopping stop({.patience = 2});
///   model.fit(dataset, {.callbacks = {stop,
///   callbacks::CSVLogger("log.csv")}});
class CallbackRef {
public:
  /// Refers to it.
  template <std::derived_from<Callback> C>
  CallbackRef(C &callback) : callback(std::shared_ptr<void>(), &callback) {}
  /// Takes it over.
  template <std::derived_from<Callback> C>
  CallbackRef(C &&callback)
      : callback(std::make_shared<C>(std::forward<C>(callback))) {}
  /// Shares it.
  template <std::derived_from<Callback> C>
  CallbackRef(std::shared_ptr<C> callback) : callback(std::move(callback)) {}
  /// Which it is.
  Callback *operator->() const { return callback.get(); }
  /// Which it is.
  Callback *get() const { return callback.get(); }

private:
  std::shared_ptr<Callback> callback;
};

} // namespace callbacks
} // namespace meshloom
