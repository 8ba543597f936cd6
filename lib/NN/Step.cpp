// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that change with the steps of an optimizer, see Optimizer.h.
#include "meshloom/NN/Optimizer.h"

#include "meshloom/API/Ops.h"

namespace meshloom::optimizers {

Hyperparameter::Hyperparameter(const schedules::Schedule &schedule, Where where)
    : value(Schedule(
          [schedule](const Tensor &step) { return schedule(step - 1); })),
      schedule(schedule) {}

Tensor Step::number(DType type) const {
  return cast(count, type);
}

Tensor Step::power(double base, DType type) const {
  return pow(base, number(type));
}

Tensor Step::correction(double beta, DType type) const {
  Tensor &cached = corrections[{beta, type}];
  if (!cached.defined()) {
    // At t = 1 in f32 this is 1e-5 off for 0.999, as it is in JAX and
    // TensorFlow, whose losses ours are compared with.
    const DType wide = type == DType::F64 ? DType::F64 : DType::F32;
    cached = cast(1 / (1 - power(beta, wide)), type);
  }
  return cached;
}

} // namespace meshloom::optimizers
