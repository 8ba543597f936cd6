// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See OptimizerChecks.h.
#include "OptimizerChecks.h"

#include "OptimizerFields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom::optimizers {

static void expectTogether(const OptimizerOptions &options) {
  if ((options.clip_norm > 0) + (options.global_clip_norm > 0) +
          (options.clip_value > 0) >
      1)
    Error(fmt::format("[Optimizer] expected one way to clip gradients at most, "
                      "got clip_norm "
                      "{}, global_clip_norm {} and clip_value {}",
                      options.clip_norm, options.global_clip_norm,
                      options.clip_value))
        .raise();
  if (options.ema_overwrite_frequency > 0 && options.ema_momentum == 0)
    Error("[Optimizer] ema_overwrite_frequency needs ema_momentum, the factor "
          "of the averages")
        .raise();
}

void expectOptions(const OptimizerOptions &options) {
  detail::checkFields("Optimizer", options);
  detail::atLine(options.where, [&] { expectTogether(options); });
}

void expectRate(const Hyperparameter &learningRate) {
  if (auto *number = std::get_if<double>(&learningRate.value))
    detail::expectBound("Optimizer", "learning_rate", *number,
                        detail::Bound::NotNegative);
  if (auto *of = std::get_if<Hyperparameter::Schedule>(&learningRate.value);
      of && !*of)
    Error("[Optimizer] expected learning_rate to be a function of the "
          "step, got an empty one")
        .raise();
  auto *variable = std::get_if<DVariable>(&learningRate.value);
  if (!variable)
    return;
  if (!variable->defined())
    Error("[Optimizer] expected learning_rate to be a variable, got an "
          "empty DVariable: make it from an initial value")
        .raise();
  if (variable->rank() != 0 || !isFloat(variable->dtype()))
    Error(fmt::format("[Optimizer] expected learning_rate to be a "
                      "variable of one float, got {} [{}]",
                      name(variable->dtype()),
                      fmt::join(variable->shape(), ", ")))
        .raise();
}

void expectDifferentiable(const DVariable &variable, const char *function,
                          const Where &where) {
  if (!isFloat(variable.dtype()) && !isComplex(variable.dtype()))
    nn::fail(function,
             fmt::format("expected variables of floats or complex numbers, got "
                         "'{}' of {}",
                         variable.name(), name(variable.dtype())),
             where);
}

void expectGradients(const Gradients &gradients, const Where &where) {
  if (gradients.empty())
    nn::fail("apply_gradients",
             "expected gradients, got none: a model names its variables with "
             "track",
             where);
  for (auto &[gradient, variable] : gradients) {
    if (!variable.defined())
      nn::fail("apply_gradients",
               "expected a variable for each gradient, got an empty DVariable",
               where);
    if (!gradient.defined())
      nn::fail("apply_gradients",
               fmt::format("expected a gradient of variable '{}', got an empty "
                           "Tensor",
                           variable.name()),
               where);
    if (gradient.dtype() != variable.dtype() ||
        gradient.shape() != variable.shape())
      nn::fail(
          "apply_gradients",
          fmt::format("expected a gradient {} [{}] of variable '{}', got {} "
                      "[{}]",
                      name(variable.dtype()), fmt::join(variable.shape(), ", "),
                      variable.name(), name(gradient.dtype()),
                      fmt::join(gradient.shape(), ", ")),
          where);
    expectDifferentiable(variable, "apply_gradients", where);
  }
}

void expectRate(double rate, const char *function, const Where &where) {
  detail::atLine(where, [&] {
    detail::expectBound(function, "learning_rate", rate,
                        detail::Bound::NotNegative);
  });
}

} // namespace meshloom::optimizers
