// What optimizers are made with, looked at when they are made.
#pragma once

#include "meshloom/NN/Optimizer.h"

namespace meshloom::optimizers {

/// Throws meshloom::Error if a number cannot be, or options exclude each other.
void expectOptions(const OptimizerOptions &options);

/// The same for what is known of the rate by then.
void expectRate(const Hyperparameter &learningRate);

} // namespace meshloom::optimizers
