// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// optimizers: they update variables from gradients. Formulas are Keras's; g is
// the gradient, w the variable, t the number of the step, from 1. For complex
// variables g^2 stands for |g|^2, and what averages it is real.
#pragma once

#include "meshloom/NN/Optimizer.h"

namespace meshloom::optimizers {

/// A type that can be a learning rate; braces are options instead.
template <typename T>
concept LearningRate = std::convertible_to<const T &, Hyperparameter>;

// Each has the options of its own formula, and, as `common`, those of all
// optimizers (OptimizerOptions).

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
class SGD : public Optimizer {
public:
  /// SGD({.learning_rate = 1e-4}).
  explicit SGD(const SGDOptions &options = {});
  /// SGD(1e-4).
  explicit SGD(const Hyperparameter &learning_rate, double momentum = 0)
      : SGD(SGDOptions{learning_rate, momentum, false}) {}
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
class Adam : public Optimizer {
public:
  /// Adam({.learning_rate = 1e-4}).
  explicit Adam(const AdamOptions &options = {});
  /// Adam(1e-4).
  Adam(const Hyperparameter &learning_rate, double beta_1 = 0.9,
       double beta_2 = 0.999, double epsilon = 1e-7)
      : Adam(AdamOptions{learning_rate, beta_1, beta_2, epsilon}) {}
};

/// Adam with weight decay apart from the gradient (Loshchilov and Hutter,
/// 2017): 0.004 where `options.common` gives none.
class AdamW : public Optimizer {
public:
  /// AdamW({.learning_rate = 1e-4}).
  explicit AdamW(const AdamOptions &options = {});
  /// AdamW(1e-4).
  explicit AdamW(const Hyperparameter &learning_rate,
                 double weight_decay = 0.004)
      : AdamW(AdamOptions{.learning_rate = learning_rate,
                          .common = {.weight_decay = weight_decay}}) {}
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
class Adagrad : public Optimizer {
public:
  /// Adagrad({.learning_rate = 1e-4}).
  explicit Adagrad(const AdagradOptions &options = {});
  /// Adagrad(1e-4).
  template <LearningRate R>
  explicit Adagrad(const R &learning_rate,
                   double initial_accumulator_value = 0.1,
                   double epsilon = 1e-7)
      : Adagrad(AdagradOptions{.learning_rate = learning_rate,
                               .initial_accumulator_value =
                                   initial_accumulator_value,
                               .epsilon = epsilon}) {}
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
class Adadelta : public Optimizer {
public:
  /// Adadelta({.learning_rate = 1e-4}).
  explicit Adadelta(const AdadeltaOptions &options = {});
  /// Adadelta(1e-4).
  template <LearningRate R>
  explicit Adadelta(const R &learning_rate, double rho = 0.95,
                    double epsilon = 1e-7)
      : Adadelta(AdadeltaOptions{
            .learning_rate = learning_rate, .rho = rho, .epsilon = epsilon}) {}
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
class RMSprop : public Optimizer {
public:
  /// RMSprop({.learning_rate = 1e-4}).
  explicit RMSprop(const RMSpropOptions &options = {});
  /// RMSprop(1e-4).
  template <LearningRate R>
  explicit RMSprop(const R &learning_rate, double rho = 0.9,
                   double momentum = 0, double epsilon = 1e-7,
                   bool centered = false)
      : RMSprop(RMSpropOptions{.learning_rate = learning_rate,
                               .rho = rho,
                               .momentum = momentum,
                               .epsilon = epsilon,
                               .centered = centered}) {}
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
class Adamax : public Optimizer {
public:
  /// Adamax({.learning_rate = 1e-4}).
  explicit Adamax(const AdamaxOptions &options = {});
  /// Adamax(1e-4).
  template <LearningRate R>
  explicit Adamax(const R &learning_rate, double beta_1 = 0.9,
                  double beta_2 = 0.999, double epsilon = 1e-7)
      : Adamax(AdamaxOptions{.learning_rate = learning_rate,
                             .beta_1 = beta_1,
                             .beta_2 = beta_2,
                             .epsilon = epsilon}) {}
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
class Nadam : public Optimizer {
public:
  /// Nadam({.learning_rate = 1e-4}).
  explicit Nadam(const NadamOptions &options = {});
  /// Nadam(1e-4).
  template <LearningRate R>
  explicit Nadam(const R &learning_rate, double beta_1 = 0.9,
                 double beta_2 = 0.999, double epsilon = 1e-7)
      : Nadam(NadamOptions{.learning_rate = learning_rate,
                           .beta_1 = beta_1,
                           .beta_2 = beta_2,
                           .epsilon = epsilon}) {}
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
/// Refuses complex variables.
class Ftrl : public Optimizer {
public:
  /// Throws meshloom::Error if learning_rate_power is positive.
  explicit Ftrl(const FtrlOptions &options = {});
  /// Ftrl(1e-4).
  template <LearningRate R>
  explicit Ftrl(const R &learning_rate, double learning_rate_power = -0.5,
                double initial_accumulator_value = 0.1)
      : Ftrl(FtrlOptions{.learning_rate = learning_rate,
                         .learning_rate_power = learning_rate_power,
                         .initial_accumulator_value =
                             initial_accumulator_value}) {}
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
class Lion : public Optimizer {
public:
  /// Lion({.learning_rate = 1e-4}).
  explicit Lion(const LionOptions &options = {});
  /// Lion(1e-4).
  template <LearningRate R>
  explicit Lion(const R &learning_rate, double beta_1 = 0.9,
                double beta_2 = 0.99)
      : Lion(LionOptions{.learning_rate = learning_rate,
                         .beta_1 = beta_1,
                         .beta_2 = beta_2}) {}
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
class LAMB : public Optimizer {
public:
  /// LAMB({.learning_rate = 1e-4}).
  explicit LAMB(const LAMBOptions &options = {});
  /// LAMB(1e-4).
  template <LearningRate R>
  explicit LAMB(const R &learning_rate, double beta_1 = 0.9,
                double beta_2 = 0.999, double epsilon = 1e-7)
      : LAMB(LAMBOptions{.learning_rate = learning_rate,
                         .beta_1 = beta_1,
                         .beta_2 = beta_2,
                         .epsilon = epsilon}) {}
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
class Adafactor : public Optimizer {
public:
  /// Adafactor({.learning_rate = 1e-4}).
  explicit Adafactor(const AdafactorOptions &options = {});
  /// Adafactor(1e-4).
  template <LearningRate R>
  explicit Adafactor(const R &learning_rate, double beta_2_decay = -0.8,
                     double epsilon_1 = 1e-30, double epsilon_2 = 1e-3,
                     double clip_threshold = 1, bool relative_step = true)
      : Adafactor(AdafactorOptions{.learning_rate = learning_rate,
                                   .beta_2_decay = beta_2_decay,
                                   .epsilon_1 = epsilon_1,
                                   .epsilon_2 = epsilon_2,
                                   .clip_threshold = clip_threshold,
                                   .relative_step = relative_step}) {}
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
class Muon : public Optimizer {
public:
  /// Muon({.exclude_layers = {"head"}}).
  explicit Muon(const MuonOptions &options = {});
  /// Muon(1e-4).
  template <LearningRate R>
  explicit Muon(const R &learning_rate)
      : Muon(MuonOptions{.learning_rate = learning_rate}) {}
};

/// The options of LossScaleOptimizer.
struct LossScaleOptions {
  double initial_scale = 32768;        ///< at first
  bool dynamic = true;                 ///< whether it changes
  int64_t dynamic_growth_steps = 2000; ///< see LossScale
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
  LossScaleOptimizer(const Optimizer &inner, N initial_scale)
      : LossScaleOptimizer(
            inner, LossScaleOptions{.initial_scale = double(initial_scale)}) {}
};

/// The optimizer that Keras knows by this name ("adam", "rmsprop", ...; small
/// or capital letters), with the options of its default. Throws meshloom::Error
/// that lists the closest names.
Optimizer get(std::string_view name);

} // namespace meshloom::optimizers
