// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The callbacks of one call of fit, evaluate or predict.
#pragma once

#include "meshloom/NN/Models/Model.h"
#include "meshloom/NN/Training/Callbacks.h"

#include <map>

namespace meshloom::callbacks {

/// Returns whether this process writes what is seen of the model's training.
/// Processes that train one together all see the same: the first of them
/// writes.
bool isWriter(const Model &model);

/// Gives its callbacks the model while it lives.
class CallbackList {
public:
  /// Throws meshloom::Error where one is null.
  CallbackList(const Model &model, std::vector<CallbackRef> callbacks,
               TrainingParameters parameters);
  ~CallbackList();
  CallbackList(const CallbackList &) = delete;
  CallbackList &operator=(const CallbackList &) = delete;

  /// Calls on_train_begin, in their order.
  void begin(Logs &logs) {
    for (const CallbackRef &callback : callbacks)
      callback->on_train_begin(logs);
  }
  /// Calls one of their functions, in their order, but those that write backups
  /// last: a backup has what all others have seen.
  template <typename... Parameters, typename... Arguments>
  void call(void (Callback::*function)(Parameters...),
            Arguments &&...arguments) {
    for (Callback *callback : backupsLast)
      (callback->*function)(arguments...);
  }

  /// All of them by what their states are called in a backup: the class, and
  /// the place among those of it.
  const std::map<std::string, Callback *> &byName() const { return named; }
  /// Gives them what they had seen; who finds nothing is warned of.
  void restore(const std::map<std::string, CallbackState> &states) const;

private:
  Model model;
  std::vector<CallbackRef> callbacks;
  std::vector<Callback *> backupsLast;
  std::map<std::string, Callback *> named;
};

} // namespace meshloom::callbacks
