// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// optimizers: they update variables from gradients. Formulas are Keras's; g is
// the gradient, w the variable, t the number of the step, from 1. For complex
// variables g^2 stands for |g|^2, and what averages it is real.
#pragma once

#include "meshloom/NN/Optimizer.h"

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

} // namespace meshloom::detail

namespace meshloom::optimizers {

/// The optimizer of a type of options. `Options` has the numbers of one
/// formula, `learning_rate` first, and, as `common`, the options that every
/// optimizer has (OptimizerOptions).
///
///   optimizers::RMSprop byName({.learning_rate = 1e-4, .momentum = 0.9});
///   optimizers::RMSprop byPlace(1e-4, 0.9, 0.9); // rho, momentum
template <typename Options> class KnownOptimizer : public Optimizer {
public:
  /// By the names of options. Throws meshloom::Error, which names the option,
  /// if a number is out of its range.
  explicit KnownOptimizer(const Options &options = {});
  /// By the first options in their order, as in Keras.
  template <typename... Numbers>
    requires(std::is_arithmetic_v<Numbers> && ...)
  explicit KnownOptimizer(const Hyperparameter &learning_rate,
                          Numbers... numbers)
      : KnownOptimizer(atRate(Options{
            learning_rate, detail::NumberAtPlace{double(numbers)}...})) {}

private:
  /// The options, whose line is that of the learning rate.
  static Options atRate(Options options);
};

/// The numbers of SGD, by the names of its formula.
struct SGDOptions {
  Hyperparameter learning_rate = 1e-2; ///< how far a step goes
  double momentum = 0;          ///< what steps keep of the one before; 0: none
  bool nesterov = false;        ///< looks one step ahead
  OptimizerOptions common = {}; ///< what all optimizers have
};

/// Gradient descent, with momentum if that is not 0:
///   w -= learning_rate g
/// With momentum:
///   v = momentum v - learning_rate g;  w += v
///   (nesterov: w += momentum v - learning_rate g)
class SGD : public KnownOptimizer<SGDOptions> {
public:
  using KnownOptimizer::KnownOptimizer;
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
};

/// Adam (Kingma and Ba, 2014), with epsilon outside of the root as in DTensor's
/// tutorial:
///   m = beta_1 m + (1 - beta_1) g;  v = beta_2 v + (1 - beta_2) g^2
///   w -= learning_rate * m / (1 - beta_1^t) /
///        (sqrt(v / (1 - beta_2^t)) + epsilon)
class Adam : public KnownOptimizer<AdamOptions> {
public:
  using KnownOptimizer::KnownOptimizer;
};

/// Adam with weight decay apart from the gradient (Loshchilov and Hutter,
/// 2017): 0.004 where `options.common` gives none.
class AdamW : public Optimizer {
public:
  /// By the names of options.
  explicit AdamW(const AdamOptions &options = {});
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
};

/// Adagrad (Duchi, Hazan and Singer, 2011):
///   a = a + g^2;  w -= learning_rate g / sqrt(a + epsilon)
class Adagrad : public KnownOptimizer<AdagradOptions> {
public:
  using KnownOptimizer::KnownOptimizer;
};

/// The numbers of Adadelta, by the names of its formula.
struct AdadeltaOptions {
  Hyperparameter learning_rate = 1e-3; ///< how far a step goes
  double rho = 0.95;                   ///< what an average keeps of itself
  double epsilon = 1e-7;               ///< added where it is divided
  OptimizerOptions common = {};        ///< what all optimizers have
};

/// Adadelta (Zeiler, 2012):
///   a = rho a + (1 - rho) g^2;  d = sqrt(b + epsilon) / sqrt(a + epsilon) g
///   b = rho b + (1 - rho) d^2;  w -= learning_rate d
class Adadelta : public KnownOptimizer<AdadeltaOptions> {
public:
  using KnownOptimizer::KnownOptimizer;
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
};

/// RMSprop (Tieleman and Hinton, 2012):
///   v = rho v + (1 - rho) g^2;  d = learning_rate g / sqrt(v + epsilon)
///   w -= d; with momentum: p = momentum p + d;  w -= p
///   (centered: a = rho a + (1 - rho) g, and v - |a|^2 stands for v in d)
class RMSprop : public KnownOptimizer<RMSpropOptions> {
public:
  using KnownOptimizer::KnownOptimizer;
};

/// The numbers of Adamax, by the names of its formula.
struct AdamaxOptions {
  Hyperparameter learning_rate = 1e-3; ///< how far a step goes
  double beta_1 = 0.9;                 ///< what m keeps of itself
  double beta_2 = 0.999;               ///< what v keeps of itself
  double epsilon = 1e-7;               ///< added where it is divided
  OptimizerOptions common = {};        ///< what all optimizers have
};

/// Adamax (Kingma and Ba, 2014):
///   m = beta_1 m + (1 - beta_1) g;  u = max(beta_2 u, |g|)
///   w -= learning_rate m / ((1 - beta_1^t) (u + epsilon))
class Adamax : public KnownOptimizer<AdamaxOptions> {
public:
  using KnownOptimizer::KnownOptimizer;
};

/// The numbers of Nadam, by the names of its formula.
struct NadamOptions {
  Hyperparameter learning_rate = 1e-3; ///< how far a step goes
  double beta_1 = 0.9;                 ///< what m keeps of itself
  double beta_2 = 0.999;               ///< what v keeps of itself
  double epsilon = 1e-7;               ///< added where it is divided
  OptimizerOptions common = {};        ///< what all optimizers have
};

/// Nadam (Dozat, 2016): Adam with Nesterov's momentum, whose weight at step t
/// is u_t = beta_1 (1 - 0.96^t / 2):
///   w -= learning_rate (u_{t+1} m / (1 - u_1 ... u_{t+1}) +
///        (1 - u_t) g / (1 - u_1 ... u_t)) /
///        (sqrt(v / (1 - beta_2^t)) + epsilon)
class Nadam : public KnownOptimizer<NadamOptions> {
public:
  using KnownOptimizer::KnownOptimizer;
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
};

/// Follow the regularized leader (McMahan et al., 2013), with n the sum of
/// g^2's, l1 and l2 the strengths and p = -learning_rate_power:
///   z += g + 2 shrinkage w - ((n + g^2)^p - n^p) / learning_rate w
///   n += g^2
///   w = (clip(z, -l1, l1) - z) /
///       (n^p / learning_rate + 2 (l2 + beta / (2 learning_rate)))
/// Refuses complex variables, and a positive learning_rate_power.
class Ftrl : public KnownOptimizer<FtrlOptions> {
public:
  using KnownOptimizer::KnownOptimizer;
};

/// The numbers of Lion, by the names of its formula.
struct LionOptions {
  Hyperparameter learning_rate = 1e-3; ///< how far a step goes
  double beta_1 = 0.9;                 ///< what m keeps of itself
  double beta_2 = 0.99;                ///< what v keeps of itself
  OptimizerOptions common = {};        ///< what all optimizers have
};

/// Lion (Chen et al., 2023):
///   w -= learning_rate sign(beta_1 m + (1 - beta_1) g)
///   m = beta_2 m + (1 - beta_2) g
class Lion : public KnownOptimizer<LionOptions> {
public:
  using KnownOptimizer::KnownOptimizer;
};

/// The numbers of LAMB, by the names of its formula.
struct LAMBOptions {
  Hyperparameter learning_rate = 1e-3; ///< how far a step goes
  double beta_1 = 0.9;                 ///< what m keeps of itself
  double beta_2 = 0.999;               ///< what v keeps of itself
  double epsilon = 1e-7;               ///< added where it is divided
  OptimizerOptions common = {};        ///< what all optimizers have
};

/// LAMB (You et al., 2019), where d is Adam's step of rate 1:
///   w -= learning_rate |w| / |d| d   (1 for |w| / |d| where either is 0)
class LAMB : public KnownOptimizer<LAMBOptions> {
public:
  using KnownOptimizer::KnownOptimizer;
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
};

/// Adafactor (Shazeer and Stern, 2018): of g^2's average it keeps, for
/// variables of two dims and more, only the means of rows (over the last dim)
/// and of columns (over the one before), r and c:
///   v = r c / mean(r);  d = g / sqrt(v);  d = d / max(1, rms(d) / threshold)
///   w -= max(epsilon_2, rms(w)) min(learning_rate, 1 / sqrt(t)) d
class Adafactor : public KnownOptimizer<AdafactorOptions> {
public:
  using KnownOptimizer::KnownOptimizer;
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
};

/// Muon (Jordan et al., 2024): matrices take steps that are nearly orthogonal,
/// others those of Adam.
///   m = momentum m + g;  x = (g + momentum m) / |g + momentum m|
///   ns_steps times: a = x x^T;  x = muon_a x + (muon_b a + muon_c a a) x
///   w -= learning_rate rms_rate sqrt(max(n, k)) x
class Muon : public KnownOptimizer<MuonOptions> {
public:
  using KnownOptimizer::KnownOptimizer;
};

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
Optimizer get(std::string_view name);

} // namespace meshloom::optimizers
