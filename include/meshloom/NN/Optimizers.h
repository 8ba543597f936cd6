// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// optimizers: they update variables from gradients. Formulas are Keras's; g is
// the gradient, w the variable, t the number of the step, from 1. For complex
// variables g^2 stands for |g|^2, and what averages it is real.
//
// An optimizer is its options, its class and a place in BuiltInOptimizers. The
// options have its rule: `className`, by which it is saved; `fields`, the names
// and bounds of its numbers; `slots`, the state of a variable; `update`, the
// step; and `usesStep`, if that asks for the number of the step. They are
// templates, which a program only parses: the library instantiates them with
// the types in lib/NN/Optimizers.cpp.
#pragma once

#include "meshloom/NN/Optimizer.h"

#include <algorithm>
#include <cmath>
#include <typeinfo>

namespace meshloom::detail {

/// A number that is given by its place among the options: it has the type of
/// the option there.
struct NumberAtPlace {
  double number;
  template <typename T>
    requires std::is_arithmetic_v<T>
  operator T() const {
    return T(number);
  }
};

/// The optimizer of options of that type. `where`: the line that errors name.
optimizers::Optimizer builtInOptimizer(const std::type_info &type,
                                       const void *options,
                                       const std::source_location &where);

} // namespace meshloom::detail

namespace meshloom::optimizers {

/// The optimizer of a type of options. `Options` has the numbers of one
/// formula, `learning_rate` first, and, as `common`, the options that every
/// optimizer has (OptimizerOptions).
///
///   optimizers::RMSprop byName({.learning_rate = 1e-4, .momentum = 0.9});
///   optimizers::RMSprop byPlace(1e-4, 0.9, 0.9); // rho, momentum
template <typename OptionsType> class BuiltInOptimizer : public Optimizer {
public:
  using Options = OptionsType; ///< the type of its options
  /// By the names of options. Throws meshloom::Error, which names the option,
  /// if a number is out of its range.
  explicit BuiltInOptimizer(const Options &options = {})
      : BuiltInOptimizer(options, options.common.where) {}
  /// By the first options in their order, as in Keras.
  template <typename... Numbers>
    requires(std::is_arithmetic_v<Numbers> && ...)
  explicit BuiltInOptimizer(const Hyperparameter &learning_rate,
                            Numbers... numbers)
      : BuiltInOptimizer(
            Options{learning_rate, detail::NumberAtPlace{double(numbers)}...},
            learning_rate.where) {}

private:
  BuiltInOptimizer(const Options &options, const Where &where)
      : Optimizer(detail::builtInOptimizer(typeid(Options), &options, where)) {}
};

/// The numbers of SGD, by the names of its formula.
struct SGDOptions {
  Hyperparameter learning_rate = 1e-2; ///< how far a step goes
  double momentum = 0;          ///< what steps keep of the one before; 0: none
  bool nesterov = false;        ///< looks one step ahead
  OptimizerOptions common = {}; ///< what all optimizers have

  // The rule; see above.
  static constexpr char className[] = "SGD";
  template <typename F> void fields(F &field) {
    field("momentum", momentum, F::Bound::Share);
    field("nesterov", nesterov);
  }
  template <typename S> void slots(S &slots) const {
    if (momentum != 0)
      slots.add("momentum");
  }
  template <typename U> void update(const U &u) const {
    if (momentum == 0) {
      u.variable.assign_sub(u.rate * u.gradient);
      return;
    }
    const auto &v = u.slots[0];
    v.assign(momentum * v - u.rate * u.gradient);
    if (nesterov)
      u.variable.assign_add(momentum * v - u.rate * u.gradient);
    else
      u.variable.assign_add(v);
  }
};

/// Gradient descent, with momentum if that is not 0:
///   w -= learning_rate g
/// With momentum:
///   v = momentum v - learning_rate g;  w += v
///   (nesterov: w += momentum v - learning_rate g)
class SGD : public BuiltInOptimizer<SGDOptions> {
public:
  using BuiltInOptimizer::BuiltInOptimizer;
};

/// The numbers of Adam, by the names of its formula.
struct AdamOptions {
  Hyperparameter learning_rate = 1e-3; ///< how far a step goes
  double beta_1 = 0.9;                 ///< what m keeps of itself
  double beta_2 = 0.999;               ///< what v keeps of itself
  double epsilon = 1e-7;               ///< added where it is divided
  /// Divides by the largest v so far (Reddi, Kale and Kumar, 2018).
  bool amsgrad = false;
  OptimizerOptions common = {}; ///< what all optimizers have

  // The rule; see above.
  static constexpr char className[] = "Adam";
  static constexpr bool usesStep = true;
  template <typename F> void fields(F &field) {
    field("beta_1", beta_1, F::Bound::Decay);
    field("beta_2", beta_2, F::Bound::Decay);
    field("epsilon", epsilon, F::Bound::NotNegative);
    field("amsgrad", amsgrad);
  }
  template <typename S> void slots(S &slots) const {
    slots.addMoments();
    if (amsgrad)
      slots.addReal("v_max");
  }
  template <typename U> void update(const U &u) const {
    u.updateMoments(beta_1, beta_2);
    Tensor v = u.slots[1];
    if (amsgrad) {
      v = maximum(u.slots[2], v);
      u.slots[2].assign(v);
    }
    u.variable.assign_sub(
        u.over(u.rate * u.first(beta_1), u.scale(v, beta_2, epsilon)));
  }
};

/// Adam (Kingma and Ba, 2014), with epsilon outside of the root as in DTensor's
/// tutorial:
///   m = beta_1 m + (1 - beta_1) g;  v = beta_2 v + (1 - beta_2) g^2
///   w -= learning_rate * m / (1 - beta_1^t) /
///        (sqrt(v / (1 - beta_2^t)) + epsilon)
class Adam : public BuiltInOptimizer<AdamOptions> {
public:
  using BuiltInOptimizer::BuiltInOptimizer;
};

/// The options of AdamW, whose rule is Adam's.
struct AdamWOptions : AdamOptions {
  static constexpr char className[] = "AdamW";
  static constexpr double defaultWeightDecay = 0.004;
};

/// Adam with weight decay apart from the gradient (Loshchilov and Hutter,
/// 2017): 0.004 where `options.common` gives none.
class AdamW : public BuiltInOptimizer<AdamWOptions> {
public:
  /// By the names of options.
  explicit AdamW(const AdamOptions &options = {})
      : BuiltInOptimizer(AdamWOptions{options}) {}
  /// AdamW(1e-4), or AdamW(1e-4, 0.01) with another weight decay.
  template <typename = void>
  explicit AdamW(const Hyperparameter &learning_rate,
                 double weight_decay = 0.004)
      : AdamW(AdamOptions{.learning_rate = learning_rate,
                          .common = {.weight_decay = weight_decay,
                                     .where = learning_rate.where}}) {}
};

/// The numbers of Adagrad, by the names of its formula.
struct AdagradOptions {
  Hyperparameter learning_rate = 1e-3; ///< how far a step goes
  double initial_accumulator_value =
      0.1;                      ///< what the sum of squares begins with
  double epsilon = 1e-7;        ///< added where it is divided
  OptimizerOptions common = {}; ///< what all optimizers have

  // The rule; see above.
  static constexpr char className[] = "Adagrad";
  template <typename F> void fields(F &field) {
    field("initial_accumulator_value", initial_accumulator_value,
          F::Bound::NotNegative);
    field("epsilon", epsilon, F::Bound::NotNegative);
  }
  template <typename S> void slots(S &slots) const {
    slots.addReal("accumulator", initial_accumulator_value);
  }
  template <typename U> void update(const U &u) const {
    const auto &sum = u.slots[0];
    sum.assign_add(u.squared(u.gradient));
    u.variable.assign_sub(u.over(u.rate * u.gradient, sqrt(sum + epsilon)));
  }
};

/// Adagrad (Duchi, Hazan and Singer, 2011):
///   a = a + g^2;  w -= learning_rate g / sqrt(a + epsilon)
class Adagrad : public BuiltInOptimizer<AdagradOptions> {
public:
  using BuiltInOptimizer::BuiltInOptimizer;
};

/// The numbers of Adadelta, by the names of its formula.
struct AdadeltaOptions {
  Hyperparameter learning_rate = 1e-3; ///< how far a step goes
  double rho = 0.95;                   ///< what an average keeps of itself
  double epsilon = 1e-7;               ///< added where it is divided
  OptimizerOptions common = {};        ///< what all optimizers have

  // The rule; see above.
  static constexpr char className[] = "Adadelta";
  template <typename F> void fields(F &field) {
    field("rho", rho, F::Bound::Decay);
    field("epsilon", epsilon, F::Bound::NotNegative);
  }
  template <typename S> void slots(S &slots) const {
    slots.addReal("accumulated_gradient");
    slots.addReal("accumulated_delta");
  }
  template <typename U> void update(const U &u) const {
    const auto &gradients = u.slots[0], &deltas = u.slots[1];
    u.decay(gradients, rho, u.squared(u.gradient));
    const auto delta =
        u.times(u.gradient, sqrt(deltas + epsilon) / sqrt(gradients + epsilon));
    u.decay(deltas, rho, u.squared(delta));
    u.variable.assign_sub(u.rate * delta);
  }
};

/// Adadelta (Zeiler, 2012):
///   a = rho a + (1 - rho) g^2;  d = sqrt(b + epsilon) / sqrt(a + epsilon) g
///   b = rho b + (1 - rho) d^2;  w -= learning_rate d
class Adadelta : public BuiltInOptimizer<AdadeltaOptions> {
public:
  using BuiltInOptimizer::BuiltInOptimizer;
};

/// The numbers of RMSprop, by the names of its formula.
struct RMSpropOptions {
  Hyperparameter learning_rate = 1e-3; ///< how far a step goes
  double rho = 0.9;                    ///< what an average keeps of itself
  double momentum = 0;   ///< what steps keep of the one before; 0: none
  double epsilon = 1e-7; ///< added where it is divided
  /// Divides by an estimate of the variance instead of g^2's mean.
  bool centered = false;
  OptimizerOptions common = {}; ///< what all optimizers have

  // The rule; see above.
  static constexpr char className[] = "RMSprop";
  template <typename F> void fields(F &field) {
    field("rho", rho, F::Bound::Decay);
    field("momentum", momentum, F::Bound::Share);
    field("epsilon", epsilon, F::Bound::NotNegative);
    field("centered", centered);
  }
  template <typename S> void slots(S &slots) const {
    slots.addReal("velocity");
    if (centered)
      slots.add("average_gradient");
    if (momentum > 0)
      slots.add("momentum");
  }
  template <typename U> void update(const U &u) const {
    u.decay(u.slots[0], rho, u.squared(u.gradient));
    Tensor square = u.slots[0];
    if (centered) {
      u.decay(u.slots[1], rho, u.gradient);
      square = square - u.squared(u.slots[1]);
    }
    Tensor delta = u.over(u.rate * u.gradient, u.root(square, epsilon));
    if (momentum > 0) {
      const auto &steps = u.slots.back();
      steps.assign(momentum * steps + delta);
      delta = steps;
    }
    u.variable.assign_sub(delta);
  }
};

/// RMSprop (Tieleman and Hinton, 2012):
///   v = rho v + (1 - rho) g^2;  d = learning_rate g / sqrt(v + epsilon)
///   w -= d; with momentum: p = momentum p + d;  w -= p
///   (centered: a = rho a + (1 - rho) g, and v - |a|^2 stands for v in d)
class RMSprop : public BuiltInOptimizer<RMSpropOptions> {
public:
  using BuiltInOptimizer::BuiltInOptimizer;
};

/// The numbers of Adamax, by the names of its formula.
struct AdamaxOptions {
  Hyperparameter learning_rate = 1e-3; ///< how far a step goes
  double beta_1 = 0.9;                 ///< what m keeps of itself
  double beta_2 = 0.999;               ///< what v keeps of itself
  double epsilon = 1e-7;               ///< added where it is divided
  OptimizerOptions common = {};        ///< what all optimizers have

  // The rule; see above.
  static constexpr char className[] = "Adamax";
  static constexpr bool usesStep = true;
  template <typename F> void fields(F &field) {
    field("beta_1", beta_1, F::Bound::Decay);
    field("beta_2", beta_2, F::Bound::Decay);
    field("epsilon", epsilon, F::Bound::NotNegative);
  }
  template <typename S> void slots(S &slots) const {
    slots.add("m");
    slots.addReal("u");
  }
  template <typename U> void update(const U &u) const {
    u.decay(u.slots[0], beta_1, u.gradient);
    u.slots[1].assign(maximum(beta_2 * u.slots[1], abs(u.gradient)));
    u.variable.assign_sub(
        u.over(u.rate * u.first(beta_1), u.slots[1] + epsilon));
  }
};

/// Adamax (Kingma and Ba, 2014):
///   m = beta_1 m + (1 - beta_1) g;  u = max(beta_2 u, |g|)
///   w -= learning_rate m / ((1 - beta_1^t) (u + epsilon))
class Adamax : public BuiltInOptimizer<AdamaxOptions> {
public:
  using BuiltInOptimizer::BuiltInOptimizer;
};

/// The numbers of Nadam, by the names of its formula.
struct NadamOptions {
  Hyperparameter learning_rate = 1e-3; ///< how far a step goes
  double beta_1 = 0.9;                 ///< what m keeps of itself
  double beta_2 = 0.999;               ///< what v keeps of itself
  double epsilon = 1e-7;               ///< added where it is divided
  OptimizerOptions common = {};        ///< what all optimizers have

  // The rule; see above.
  static constexpr char className[] = "Nadam";
  static constexpr bool usesStep = true;
  template <typename F> void fields(F &field) {
    field("beta_1", beta_1, F::Bound::Decay);
    field("beta_2", beta_2, F::Bound::Decay);
    field("epsilon", epsilon, F::Bound::NotNegative);
  }
  template <typename S> void slots(S &slots) const {
    slots.addMoments();
    slots.addOne("momentum_product");
  }
  template <typename U> void update(const U &u) const {
    u.updateMoments(beta_1, beta_2);
    const auto &product = u.slots[2];
    // 0.96^t and 0.96^(t + 1).
    const auto power = u.step.power(0.96, product.dtype());
    const auto now = beta_1 * (1 - 0.5 * power),
               next = beta_1 * (1 - 0.5 * 0.96 * power);
    product.assign(product * now);
    const auto m = u.times(u.slots[0], next / (1 - product * next)),
               g = u.times(u.gradient, (1 - now) / (1 - product));
    u.variable.assign_sub(
        u.over(u.rate * (m + g), u.scale(u.slots[1], beta_2, epsilon)));
  }
};

/// Nadam (Dozat, 2016): Adam with Nesterov's momentum, whose weight at step t
/// is u_t = beta_1 (1 - 0.96^t / 2):
///   w -= learning_rate (u_{t+1} m / (1 - u_1 ... u_{t+1}) +
///        (1 - u_t) g / (1 - u_1 ... u_t)) /
///        (sqrt(v / (1 - beta_2^t)) + epsilon)
class Nadam : public BuiltInOptimizer<NadamOptions> {
public:
  using BuiltInOptimizer::BuiltInOptimizer;
};

/// The numbers of Ftrl, by the names of its formula.
struct FtrlOptions {
  Hyperparameter learning_rate = 1e-3; ///< how far a step goes
  /// Not positive: how fast the rate falls with the gradients' squares.
  double learning_rate_power = -0.5;
  double initial_accumulator_value =
      0.1; ///< what the sum of squares begins with
  double l1_regularization_strength = 0; ///< l1
  double l2_regularization_strength = 0; ///< l2
  double l2_shrinkage_regularization_strength =
      0;                        ///< shrinkage: l2 of the gradient only
  double beta = 0;              ///< adds to l2 what falls with the rate
  OptimizerOptions common = {}; ///< what all optimizers have

  // The rule; see above.
  static constexpr char className[] = "Ftrl";
  template <typename F> void fields(F &field) {
    field("learning_rate_power", learning_rate_power, F::Bound::NotPositive);
    field("initial_accumulator_value", initial_accumulator_value,
          F::Bound::NotNegative);
    field("l1_regularization_strength", l1_regularization_strength,
          F::Bound::NotNegative);
    field("l2_regularization_strength", l2_regularization_strength,
          F::Bound::NotNegative);
    field("l2_shrinkage_regularization_strength",
          l2_shrinkage_regularization_strength, F::Bound::NotNegative);
    field("beta", beta, F::Bound::NotNegative);
  }
  template <typename S> void slots(S &slots) const {
    slots.expectReal(className);
    slots.addReal("accumulator", initial_accumulator_value);
    slots.add("linear");
  }
  template <typename U> void update(const U &u) const {
    const auto &sum = u.slots[0], &linear = u.slots[1];
    const auto w = u.variable.read_value(), rate = u.scalarRate();
    const double l1 = l1_regularization_strength;
    auto strength = [&](const auto &squares) {
      return pow(squares, -learning_rate_power) / rate;
    };
    const auto before = sum.read_value(),
               after = before + u.squared(u.gradient);
    linear.assign_add(u.gradient +
                      2 * l2_shrinkage_regularization_strength * w -
                      (strength(after) - strength(before)) * w);
    const auto l2 = l2_regularization_strength + beta / (2 * rate);
    u.variable.assign((clip_by_value(linear, -l1, l1) - linear) /
                      (strength(after) + 2 * l2));
    sum.assign(after);
  }
};

/// Follow the regularized leader (McMahan et al., 2013), with n the sum of
/// g^2's, l1 and l2 the strengths and p = -learning_rate_power:
///   z += g + 2 shrinkage w - ((n + g^2)^p - n^p) / learning_rate w
///   n += g^2
///   w = (clip(z, -l1, l1) - z) /
///       (n^p / learning_rate + 2 (l2 + beta / (2 learning_rate)))
/// Refuses complex variables, and a positive learning_rate_power.
class Ftrl : public BuiltInOptimizer<FtrlOptions> {
public:
  using BuiltInOptimizer::BuiltInOptimizer;
};

/// The numbers of Lion, by the names of its formula.
struct LionOptions {
  Hyperparameter learning_rate = 1e-3; ///< how far a step goes
  double beta_1 = 0.9;                 ///< what m keeps of itself
  double beta_2 = 0.99;                ///< what v keeps of itself
  OptimizerOptions common = {};        ///< what all optimizers have

  // The rule; see above.
  static constexpr char className[] = "Lion";
  template <typename F> void fields(F &field) {
    field("beta_1", beta_1, F::Bound::Decay);
    field("beta_2", beta_2, F::Bound::Decay);
  }
  template <typename S> void slots(S &slots) const { slots.add("m"); }
  template <typename U> void update(const U &u) const {
    const auto &m = u.slots[0];
    u.variable.assign_sub(u.rate *
                          sign(beta_1 * m + (1 - beta_1) * u.gradient));
    u.decay(m, beta_2, u.gradient);
  }
};

/// Lion (Chen et al., 2023):
///   w -= learning_rate sign(beta_1 m + (1 - beta_1) g)
///   m = beta_2 m + (1 - beta_2) g
class Lion : public BuiltInOptimizer<LionOptions> {
public:
  using BuiltInOptimizer::BuiltInOptimizer;
};

/// The numbers of LAMB, by the names of its formula.
struct LAMBOptions {
  Hyperparameter learning_rate = 1e-3; ///< how far a step goes
  double beta_1 = 0.9;                 ///< what m keeps of itself
  double beta_2 = 0.999;               ///< what v keeps of itself
  double epsilon = 1e-7;               ///< added where it is divided
  OptimizerOptions common = {};        ///< what all optimizers have

  // The rule; see above.
  static constexpr char className[] = "LAMB";
  static constexpr bool usesStep = true;
  template <typename F> void fields(F &field) {
    field("beta_1", beta_1, F::Bound::Decay);
    field("beta_2", beta_2, F::Bound::Decay);
    field("epsilon", epsilon, F::Bound::NotNegative);
  }
  template <typename S> void slots(S &slots) const { slots.addMoments(); }
  template <typename U> void update(const U &u) const {
    u.updateMoments(beta_1, beta_2);
    const auto delta =
        u.over(u.first(beta_1), u.scale(u.slots[1], beta_2, epsilon));
    const auto weight = sqrt(reduce_sum(u.squared(u.variable))),
               length = sqrt(reduce_sum(u.squared(delta)));
    const auto ratio = where(logical_and(weight > 0, length > 0),
                             weight / length, ones_like(weight));
    u.variable.assign_sub(u.rate * u.times(delta, ratio));
  }
};

/// LAMB (You et al., 2019), where d is Adam's step of rate 1:
///   w -= learning_rate |w| / |d| d   (1 for |w| / |d| where either is 0)
class LAMB : public BuiltInOptimizer<LAMBOptions> {
public:
  using BuiltInOptimizer::BuiltInOptimizer;
};

/// The numbers of Adafactor, by the names of its formula.
struct AdafactorOptions {
  Hyperparameter learning_rate = 1e-3; ///< how far a step goes
  double beta_2_decay = -0.8;          ///< averages keep 1 - t^beta_2_decay
  double epsilon_1 = 1e-30;            ///< added to squares
  double epsilon_2 = 1e-3;             ///< the least size of a variable
  double clip_threshold = 1;           ///< how long steps may be
  /// Steps are at most 1 / sqrt(t) of a variable, too.
  bool relative_step = true;
  OptimizerOptions common = {}; ///< what all optimizers have

  // The rule; see above.
  static constexpr char className[] = "Adafactor";
  static constexpr bool usesStep = true;
  template <typename F> void fields(F &field) {
    field("beta_2_decay", beta_2_decay, F::Bound::NotPositive);
    field("epsilon_1", epsilon_1, F::Bound::NotNegative);
    field("epsilon_2", epsilon_2, F::Bound::NotNegative);
    field("clip_threshold", clip_threshold, F::Bound::MoreThan0);
    field("relative_step", relative_step);
  }
  template <typename S> void slots(S &slots) const {
    if (slots.variable.rank() < 2) {
      slots.addReal("v");
      return;
    }
    slots.addMeans("r", 1);
    slots.addMeans("c", 2);
  }
  template <typename U> void update(const U &u) const {
    const auto square = u.squared(u.gradient) + epsilon_1, t = u.number();
    const auto beta = cast(1 - pow(t, beta_2_decay), square.dtype());
    auto follow = [&](const auto &average, const auto &value) {
      average.assign(beta * average + (1 - beta) * value);
    };
    auto rootMeanSquare = [&](const auto &x) {
      return sqrt(reduce_mean(u.squared(x)));
    };
    Tensor v;
    if (u.slots.size() == 1) {
      follow(u.slots[0], square);
      v = u.slots[0];
    } else {
      const auto &rows = u.slots[0], &columns = u.slots[1];
      follow(rows, reduce_mean(square, -1));
      follow(columns, reduce_mean(square, -2));
      const auto share =
          rows / reduce_mean(rows.read_value(), -1, /*keepdims=*/true);
      v = expand_dims(share, -1) * expand_dims(columns.read_value(), -2);
    }
    auto delta = u.over(u.gradient, u.root(v));
    delta = u.over(delta, maximum(1, rootMeanSquare(delta) / clip_threshold));
    auto rate = u.scalarRate();
    if (relative_step)
      rate = minimum(rate, cast(1 / sqrt(t), rate.dtype()));
    u.variable.assign_sub(
        u.times(delta, rate * maximum(rootMeanSquare(u.variable), epsilon_2)));
  }
};

/// Adafactor (Shazeer and Stern, 2018): of g^2's average it keeps, for
/// variables of two dims and more, only the means of rows (over the last dim)
/// and of columns (over the one before), r and c:
///   v = r c / mean(r);  d = g / sqrt(v);  d = d / max(1, rms(d) / threshold)
///   w -= max(epsilon_2, rms(w)) min(learning_rate, 1 / sqrt(t)) d
class Adafactor : public BuiltInOptimizer<AdafactorOptions> {
public:
  using BuiltInOptimizer::BuiltInOptimizer;
};

/// The numbers of Muon, by the names of its formula.
struct MuonOptions {
  Hyperparameter learning_rate = 1e-3; ///< how far a step goes
  double momentum = 0.95;              ///< what m keeps of itself
  bool nesterov = true;                ///< whether a step is of g + momentum m
  int64_t ns_steps = 5;                ///< of the Newton-Schulz iteration
  double muon_a = 3.4445;              ///< a number of the iteration
  double muon_b = -4.7750;             ///< a number of the iteration
  double muon_c = 2.0315;              ///< a number of the iteration
  /// Steps of [n, k] are times rms_rate sqrt(max(n, k)), so that rates of Adam
  /// fit; 0: they are not.
  double rms_rate = 0.2;
  double adam_beta_1 = 0.9;   ///< Adam's beta_1
  double adam_beta_2 = 0.999; ///< Adam's beta_2
  double epsilon = 1e-7;      ///< Adam's
  double adam_lr_ratio = 1;   ///< Adam's rate is so many times learning_rate
  bool exclude_embeddings = true; ///< names with "embedding" are Adam's
  /// Variables in whose names one of these is are Adam's, too.
  std::vector<std::string> exclude_layers = {};
  /// The options of all optimizers; its weight_decay is 0.004 where none is
  /// given.
  OptimizerOptions common = {};

  // The rule; see above.
  static constexpr char className[] = "Muon";
  static constexpr bool usesStep = true;
  static constexpr double defaultWeightDecay = 0.004;
  template <typename F> void fields(F &field) {
    field("momentum", momentum, F::Bound::Share);
    field("nesterov", nesterov);
    field("ns_steps", ns_steps, F::Bound::MoreThan0);
    field("muon_a", muon_a, F::Bound::Finite);
    field("muon_b", muon_b, F::Bound::Finite);
    field("muon_c", muon_c, F::Bound::Finite);
    field("rms_rate", rms_rate, F::Bound::NotNegative);
    field("adam_beta_1", adam_beta_1, F::Bound::Decay);
    field("adam_beta_2", adam_beta_2, F::Bound::Decay);
    field("epsilon", epsilon, F::Bound::NotNegative);
    field("adam_lr_ratio", adam_lr_ratio, F::Bound::NotNegative);
    field("exclude_embeddings", exclude_embeddings);
    field("exclude_layers", exclude_layers);
  }
  /// The variables that are left to Adam have its state.
  template <typename S> void slots(S &slots) const {
    if (slots.isMatrix() && !slots.hasName(exclude_layers) &&
        !(exclude_embeddings && slots.hasNameOfEmbedding()))
      slots.add("momentum");
    else
      adam().slots(slots);
  }
  template <typename U> void update(const U &u) const {
    if (u.slots.size() > 1) {
      adam().update(adam_lr_ratio == 1 ? u : u.slower(adam_lr_ratio));
      return;
    }
    const auto &m = u.slots[0];
    m.assign(momentum * m + u.gradient);
    const auto g = nesterov ? u.gradient + momentum * m : m.read_value();
    // Nearly u v^T of g = u s v^T.
    const bool isTall = g.shape()[0] > g.shape()[1];
    auto x = isTall ? transpose(g) : g;
    x = x / (sqrt(reduce_sum(u.squared(x))) + 1e-7);
    for (int64_t i = 0; i < ns_steps; ++i) {
      const auto a = matmul(x, x, {.transpose_b = true});
      x = muon_a * x + matmul(muon_b * a + muon_c * matmul(a, a), x);
    }
    const auto length = std::sqrt(double(std::max(g.shape()[0], g.shape()[1])));
    u.variable.assign_sub(u.rate * (isTall ? transpose(x) : x) *
                          (rms_rate == 0 ? 1 : rms_rate * length));
  }
  /// The options of Adam, by which other variables than matrices are updated.
  AdamOptions adam() const {
    return {.beta_1 = adam_beta_1, .beta_2 = adam_beta_2, .epsilon = epsilon};
  }
};

/// Muon (Jordan et al., 2024): matrices take steps that are nearly orthogonal,
/// others those of Adam.
///   m = momentum m + g;  x = (g + momentum m) / |g + momentum m|
///   ns_steps times: a = x x^T;  x = muon_a x + (muon_b a + muon_c a a) x
///   w -= learning_rate rms_rate sqrt(max(n, k)) x
class Muon : public BuiltInOptimizer<MuonOptions> {
public:
  using BuiltInOptimizer::BuiltInOptimizer;
};

/// A list of types.
template <typename... Types> struct TypeList {};
/// The optimizers that `get` and Optimizer::from_config know by name.
using BuiltInOptimizers =
    TypeList<SGD, Adam, AdamW, Adagrad, Adadelta, RMSprop, Adamax, Nadam, Ftrl,
             Lion, LAMB, Adafactor, Muon>;

/// The options of LossScaleOptimizer.
struct LossScaleOptions {
  double initial_scale = 32768;        ///< at first
  bool dynamic = true;                 ///< whether it changes
  int64_t dynamic_growth_steps = 2000; ///< see LossScale
  Where where = Where::current();      ///< the line that errors name
};
/// Another optimizer with scaled losses, for computing in f16:
///
///   optimizers::LossScaleOptimizer optimizer(optimizers::Adam(1e-3));
///   GradientTape tape;
///   Tensor loss = optimizer.scale_loss(compute(x));
///   optimizer.apply_gradients(tape.gradient(loss, variables));
class LossScaleOptimizer : public Optimizer {
public:
  /// Throws meshloom::Error if a number is not positive, or if `inner` scales
  /// losses already or has taken steps.
  explicit LossScaleOptimizer(const Optimizer &inner,
                              const LossScaleOptions &options = {});
  /// LossScaleOptimizer(adam, 1024).
  template <typename N>
    requires std::is_arithmetic_v<N>
  LossScaleOptimizer(const Optimizer &inner, N initial_scale,
                     Where where = Where::current())
      : LossScaleOptimizer(
            inner, LossScaleOptions{.initial_scale = double(initial_scale),
                                    .where = where}) {}
};

/// The optimizer that Keras knows by this name ("adam", "rmsprop", ...; small
/// or capital letters), with the options of its default. Throws meshloom::Error
/// that lists the closest names.
Optimizer get(std::string_view name, Where where = Where::current());

} // namespace meshloom::optimizers
