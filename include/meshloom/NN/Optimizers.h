// optimizers: they update variables from gradients.
#pragma once

#include "meshloom/API/GradientTape.h"

#include <functional>
#include <variant>

namespace meshloom::optimizers {

using Where = std::source_location;

// apply_gradients throws meshloom::Error, naming the line of its caller, if
// there is no gradient, or if one has not its variable's type and shape.

/// A number that an optimizer uses. A double is part of the program that a
/// function is compiled to; a scalar variable, which the program reads, may be
/// assigned between steps without tracing again; a function computes it from
/// the number of the step, an f32 scalar that is 1 in the first one:
///
///   DVariable rate(tensor(1e-3f));
///   optimizers::Adam adam({.learning_rate = rate});
///   optimizers::SGD sgd({.learning_rate = [](const Tensor &step) {
///     return 0.1f / sqrt(step);
///   }});
class Hyperparameter {
public:
  using Schedule = std::function<Tensor(const Tensor &step)>;
  Hyperparameter(double number) : value(number) {}
  Hyperparameter(const DVariable &variable) : value(variable) {}
  template <typename F>
    requires std::convertible_to<std::invoke_result_t<F &, const Tensor &>,
                                 Tensor>
  Hyperparameter(F schedule) : value(Schedule(std::move(schedule))) {}

  std::variant<double, DVariable, Schedule> value;
};

struct AdamOptions {
  Hyperparameter learning_rate = 1e-3;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
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
  Adam(Hyperparameter learning_rate, double beta_1 = 0.9, double beta_2 = 0.999,
       double epsilon = 1e-7)
      : Adam(AdamOptions{learning_rate, beta_1, beta_2, epsilon}) {}
  void apply_gradients(const Gradients &gradients,
                       Where where = Where::current()) const;
  /// With another learning rate, a number or a scalar, in this step.
  void apply_gradients(const Gradients &gradients,
                       const TensorLike &learning_rate) const;
  /// The step, then each variable's moments, in the order seen.
  std::vector<DVariable> variables() const;

private:
  struct State;
  std::shared_ptr<State> state;
};

struct SGDOptions {
  Hyperparameter learning_rate = 1e-2;
  double momentum = 0;
  bool nesterov = false;
};

/// w -= learning_rate g; with momentum (Keras):
///   v = momentum v - learning_rate g;  w += v
///   (nesterov: w += momentum v - learning_rate g)
class SGD {
public:
  explicit SGD(SGDOptions options = {});
  explicit SGD(Hyperparameter learning_rate, double momentum = 0)
      : SGD(SGDOptions{learning_rate, momentum, false}) {}
  void apply_gradients(const Gradients &gradients,
                       Where where = Where::current()) const;
  /// With another learning rate, a number or a scalar, in this step.
  void apply_gradients(const Gradients &gradients,
                       const TensorLike &learning_rate) const;
  /// The step, where the learning rate is a function of it, then momenta.
  std::vector<DVariable> variables() const;

private:
  struct State;
  std::shared_ptr<State> state;
};

} // namespace meshloom::optimizers
