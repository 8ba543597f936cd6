// Module: what has variables, and parts that have variables.
#pragma once

#include "meshloom/API/Variable.h"

namespace meshloom {

class Layer;

/// Base of layers and models. `track` names the members that are variables,
/// modules or layers (or vectors of them), in the order in which they are then
/// found. A module without any says so: `track()`.
///
///   struct Net : Module {
///     Dense first, second;
///     Net(...) : first(...), second(...) { track(first, second); }
///   };
///   adam.apply_gradients(tape.gradient(loss, net.trainable_variables()));
///
/// A copy of a module has the same variables.
class Module {
public:
  /// Depth first, in the order of `track`; one tracked twice comes once. Throws
  /// meshloom::Error if this module, or one that is tracked in it, has not
  /// called `track`, or if one was moved from.
  std::vector<DVariable> variables() const;
  /// Those made with trainable = true.
  std::vector<DVariable> trainable_variables() const;

protected:
  Module();

  /// Called at the end of the constructor, when all parts are there. Throws
  /// meshloom::Error if a variable or a vector of parts is still empty.
  template <typename... Parts> void track(const Parts &...parts) {
    startTracking();
    (trackOne(parts), ...);
  }

private:
  std::vector<DVariable> found(bool onlyTrainable) const;
  void startTracking();
  void expectParts(size_t count);
  void trackOne(const DVariable &variable);
  void trackOne(const Module &module);
  void trackOne(const Layer &layer);
  template <typename T> void trackOne(const std::vector<T> &parts) {
    expectParts(parts.size());
    for (auto &part : parts)
      trackOne(part);
  }

  struct State;
  std::shared_ptr<State> state;
};

} // namespace meshloom
