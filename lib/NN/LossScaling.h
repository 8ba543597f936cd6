// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LossScaling: the scale of losses and how it follows what gradients are; see
// LossScale in Optimizer.h.
#pragma once

#include "meshloom/NN/Optimizer.h"

namespace meshloom::optimizers {

class LossScaling {
public:
  /// Throws meshloom::Error if a number is negative.
  explicit LossScaling(const LossScale &options);

  /// Makes the variables, on the default mesh, else on that of `like`, or of
  /// the function that is being traced.
  void build(const Tensor &like);
  Tensor scaled(const Tensor &loss) const;
  Gradients unscaled(Gradients gradients) const;
  /// Returns whether all elements are finite, an i1 scalar.
  static Tensor areFinite(const Gradients &gradients);
  /// Grows or falls.
  void follow(const Tensor &finite) const;
  std::vector<DVariable> variables() const;

private:
  LossScale options;
  DVariable scale; ///< f32
  DVariable steps; ///< i64: finite ones since it changed; of a fixed one none
};

} // namespace meshloom::optimizers
