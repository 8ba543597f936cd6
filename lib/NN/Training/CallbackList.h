// The callbacks of one call of fit, evaluate or predict.
#pragma once

#include "meshloom/NN/Models/Model.h"
#include "meshloom/NN/Training/Callbacks.h"

namespace meshloom::callbacks {

/// Whether this process writes what is seen of the model's training. Processes
/// that train one together all see the same: the first of them writes.
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

  /// Calls one of their functions, in their order.
  template <typename... Parameters, typename... Arguments>
  void call(void (Callback::*function)(Parameters...),
            Arguments &&...arguments) {
    for (const CallbackRef &callback : callbacks)
      (callback.get()->*function)(arguments...);
  }

private:
  Model model;
  std::vector<CallbackRef> callbacks;
};

} // namespace meshloom::callbacks
