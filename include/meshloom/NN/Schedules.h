// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// schedules: learning rates that follow the number of the step, by the names
// and with the meaning of Keras.
#pragma once

#include "meshloom/NN/Named.h"

/// Learning rates that follow the number of the step.
namespace meshloom::schedules {

/// A function from the number of steps taken so far, an f32 scalar, to the
/// learning rate of the next step. An optimizer takes one as its learning rate;
/// the program computes it, and is not traced again:
///
///   optimizers::Adam adam({.learning_rate = schedules::CosineDecay(
///       {.initial_learning_rate = 1e-3, .decay_steps = 10000})});
class Schedule : public NamedPart<Schedule, Tensor(const Tensor &step)> {
public:
  using NamedPart::NamedPart;
};

/// The options of ExponentialDecay and InverseTimeDecay.
struct DecayOptions {
  double initial_learning_rate = 0; ///< of the first step
  double decay_steps = 0;           ///< after how many it falls once more
  double decay_rate = 0;            ///< how it falls
  bool staircase = false;           ///< it falls at multiples of decay_steps
  Where where = Where::current();   ///< the line that errors name
};
/// initial_learning_rate * decay_rate^(step / decay_steps). All throw
/// meshloom::Error if decay_steps is not positive.
Schedule ExponentialDecay(const DecayOptions &options);
/// ExponentialDecay(0.1, 1000, 0.96).
inline Schedule ExponentialDecay(double initial_learning_rate,
                                 double decay_steps, double decay_rate,
                                 bool staircase = false,
                                 Where where = Where::current()) {
  return ExponentialDecay(DecayOptions{initial_learning_rate, decay_steps,
                                       decay_rate, staircase, where});
}
/// initial_learning_rate / (1 + decay_rate * step / decay_steps).
Schedule InverseTimeDecay(const DecayOptions &options);
/// InverseTimeDecay(0.1, 1000, 0.5).
inline Schedule InverseTimeDecay(double initial_learning_rate,
                                 double decay_steps, double decay_rate,
                                 bool staircase = false,
                                 Where where = Where::current()) {
  return InverseTimeDecay(DecayOptions{initial_learning_rate, decay_steps,
                                       decay_rate, staircase, where});
}

/// values[i] up to and with step boundaries[i], the last one beyond. Throws
/// meshloom::Error if there is not one value more than boundaries, or if these
/// do not rise.
Schedule PiecewiseConstantDecay(const std::vector<int64_t> &boundaries,
                                const std::vector<double> &values,
                                Where where = Where::current());

/// The options of PolynomialDecay.
struct PolynomialDecayOptions {
  double initial_learning_rate = 0;  ///< of the first step
  double decay_steps = 0;            ///< when the end is reached
  double end_learning_rate = 0.0001; ///< from then on
  double power = 1;                  ///< 1: along a line
  /// Falls again and again, from where a longer decay would be.
  bool cycle = false;
  Where where = Where::current(); ///< the line that errors name
};
/// (initial - end) (1 - step / decay_steps)^power + end.
Schedule PolynomialDecay(const PolynomialDecayOptions &options);
/// PolynomialDecay(0.1, 1000).
inline Schedule PolynomialDecay(double initial_learning_rate,
                                double decay_steps,
                                double end_learning_rate = 0.0001,
                                double power = 1, bool cycle = false,
                                Where where = Where::current()) {
  return PolynomialDecay(PolynomialDecayOptions{initial_learning_rate,
                                                decay_steps, end_learning_rate,
                                                power, cycle, where});
}

/// The options of CosineDecay.
struct CosineDecayOptions {
  double initial_learning_rate = 0; ///< of the first step
  double decay_steps = 0;           ///< how many it falls, after the warmup
  double alpha = 0;                 ///< at the end, as a share of the most
  /// The most: the rate rises to it along a line. None: no warmup.
  std::optional<double> warmup_target = std::nullopt;
  double warmup_steps = 0;        ///< how many it rises
  Where where = Where::current(); ///< the line that errors name
};
/// Falls like half a wave of the cosine (Loshchilov and Hutter, 2016).
Schedule CosineDecay(const CosineDecayOptions &options);
/// CosineDecay(1e-3, 10000).
inline Schedule CosineDecay(double initial_learning_rate, double decay_steps,
                            double alpha = 0, Where where = Where::current()) {
  return CosineDecay(
      CosineDecayOptions{.initial_learning_rate = initial_learning_rate,
                         .decay_steps = decay_steps,
                         .alpha = alpha,
                         .where = where});
}

/// The options of CosineDecayRestarts.
struct CosineDecayRestartsOptions {
  double initial_learning_rate = 0; ///< of the first step
  double first_decay_steps = 0;     ///< how many the first wave has
  double t_mul = 2;                 ///< each wave is so much longer
  double m_mul = 1;                 ///< each wave begins so much higher
  double alpha = 0;                 ///< at the ends, as a share of the initial
  Where where = Where::current();   ///< the line that errors name
};
/// CosineDecay again and again.
Schedule CosineDecayRestarts(const CosineDecayRestartsOptions &options);
/// CosineDecayRestarts(1e-3, 1000).
inline Schedule CosineDecayRestarts(double initial_learning_rate,
                                    double first_decay_steps, double t_mul = 2,
                                    double m_mul = 1, double alpha = 0,
                                    Where where = Where::current()) {
  return CosineDecayRestarts(CosineDecayRestartsOptions{
      initial_learning_rate, first_decay_steps, t_mul, m_mul, alpha, where});
}

} // namespace meshloom::schedules
