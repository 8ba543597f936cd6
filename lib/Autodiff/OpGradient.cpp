// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Autodiff/OpGradient.h"

#include "meshloom/Autodiff/DifferentiableOpInterface.cpp.inc"

namespace meshloom {

void OpGradient::conjugateResults() {
  for (Value &gradient : results)
    gradient = conjugate(gradient);
}

void OpGradient::conjugateOperands() {
  for (Value &gradient : operands)
    gradient = conjugate(gradient);
}

} // namespace meshloom
