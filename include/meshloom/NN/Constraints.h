// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// constraints: what weights are brought back to after each step, by the names
// and with the defaults of Keras.
#pragma once

#include "meshloom/NN/Named.h"

/// Constraints of weights, which optimizers apply after each step.
namespace meshloom::constraints {

/// Returns the value that a weight gets after a step.
class Constraint : public NamedPart<Constraint, Tensor(const Tensor &)> {
public:
  using NamedPart::NamedPart;
};

/// Along which dims a weight's vectors lie, whose lengths count: {0} for a
/// kernel [in, out], {0, 1, 2} for one of a convolution.
using Axes = std::vector<int64_t>;

/// Vectors at most `max_value` long.
Constraint MaxNorm(double max_value = 2, const Axes &axis = {0},
                   Where where = Where::current());
/// Negative elements become 0.
Constraint NonNeg();
/// Vectors of length 1.
Constraint UnitNorm(const Axes &axis = {0});
/// The numbers of MinMaxNorm.
struct MinMaxNormOptions {
  double min_value = 0;           ///< the least length
  double max_value = 1;           ///< the greatest length
  double rate = 1;                ///< how far of the way vectors go at once
  Axes axis = {0};                ///< along which vectors lie
  Where where = Where::current(); ///< the line that errors name
};
/// Vectors whose length is in [min_value, max_value].
Constraint MinMaxNorm(const MinMaxNormOptions &options = {});
/// MinMaxNorm(0.5, 2).
template <typename N>
  requires std::is_arithmetic_v<N>
Constraint MinMaxNorm(N min_value, double max_value = 1, double rate = 1,
                      const Axes &axis = {0}, Where where = Where::current()) {
  return MinMaxNorm(
      MinMaxNormOptions{double(min_value), max_value, rate, axis, where});
}

} // namespace meshloom::constraints
