// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of the options of optimizers, and of the gradients of a step.
#pragma once

#include "Errors.h"

#include "meshloom/NN/Optimizer.h"

namespace meshloom::optimizers {

/// Throws meshloom::Error if a number cannot be, or options exclude each other.
void expectOptions(const OptimizerOptions &options);

/// The same for what is known of the rate by then.
void expectRate(const Hyperparameter &learningRate);
void expectRate(double rate, const char *function, const Where &where);

/// Throws where the variable can have no gradient.
void expectDifferentiable(const DVariable &variable, const char *function,
                          const Where &where);

/// Throws where there is none, or one does not fit its variable.
void expectGradients(const Gradients &gradients, const Where &where);

} // namespace meshloom::optimizers
