// optimizers: they update variables from gradients.
#pragma once

#include "meshloom/API/GradientTape.h"

namespace meshloom::optimizers {

using Where = std::source_location;

// apply_gradients throws meshloom::Error, naming the line of its caller, if
// there is no gradient, or if one has not its variable's type and shape.

struct AdamOptions {
  double learning_rate = 1e-3, beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
};

/// Adam (Kingma and Ba, 2014), with epsilon outside of the root as in the
/// tutorial and in Keras:
///   m = beta_1 m + (1 - beta_1) g;  v = beta_2 v + (1 - beta_2) g^2
///   w -= learning_rate * m / (1 - beta_1^t) /
///        (sqrt(v / (1 - beta_2^t)) + epsilon)
/// For complex g, g^2 stands for |g|^2, and v is real. t counts the calls of
/// apply_gradients, in a variable. Moments are variables laid out like theirs,
/// made at the first call (in a `function` too). A copy is the same optimizer;
/// one that was moved from is empty, and its use throws meshloom::Error.
class Adam {
public:
  explicit Adam(AdamOptions options = {});
  Adam(double learning_rate, double beta_1 = 0.9, double beta_2 = 0.999,
       double epsilon = 1e-7)
      : Adam(AdamOptions{learning_rate, beta_1, beta_2, epsilon}) {}
  void apply_gradients(const Gradients &gradients,
                       Where where = Where::current()) const;
  /// The step, then each variable's moments, in the order seen.
  std::vector<DVariable> variables() const;

private:
  struct State;
  std::shared_ptr<State> state;
};

struct SGDOptions {
  double learning_rate = 1e-2, momentum = 0;
  bool nesterov = false;
};

/// w -= learning_rate g; with momentum (Keras):
///   v = momentum v - learning_rate g;  w += v
///   (nesterov: w += momentum v - learning_rate g)
class SGD {
public:
  explicit SGD(SGDOptions options = {});
  explicit SGD(double learning_rate, double momentum = 0)
      : SGD(SGDOptions{learning_rate, momentum, false}) {}
  void apply_gradients(const Gradients &gradients,
                       Where where = Where::current()) const;
  std::vector<DVariable> variables() const;

private:
  struct State;
  std::shared_ptr<State> state;
};

} // namespace meshloom::optimizers
