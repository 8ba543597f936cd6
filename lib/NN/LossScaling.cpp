// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scale of losses, see LossScaling.h.
#include "LossScaling.h"

#include "Placement.h"

#include "meshloom/API/RemoteVariables.h"
#include "meshloom/NN/Optimizers.h"

#include <fmt/format.h>

namespace meshloom::optimizers {

LossScaling::LossScaling(const LossScale &options) : options(options) {
  if (!(options.initial > 0) || options.growth_steps < 0)
    Error(fmt::format("[Optimizer] expected loss_scale to have an initial "
                      "scale above 0 and 0 or more growth_steps, got {} "
                      "and {}",
                      options.initial, options.growth_steps))
        .raise();
}

void LossScaling::build(const Tensor &like) {
  if (scale.defined())
    return;
  auto make = [&](const char *name, double value, DType type) {
    return nn::makeVariableNear(like, [&] { return full({}, value, type); },
                                {.name = name, .trainable = false});
  };
  scale = make("loss_scale", options.initial, DType::F32);
  // One process holds both.
  const detail::ColocationScope beside(scale);
  if (options.growth_steps > 0)
    steps = make("loss_scale_steps", 0, DType::I64);
}

Tensor LossScaling::scaled(const Tensor &loss) const {
  return loss * cast(scale, loss.dtype());
}

Gradients LossScaling::unscaled(Gradients gradients) const {
  const Tensor inverse = 1 / scale;
  for (auto &[gradient, variable] : gradients)
    gradient = gradient * cast(inverse, gradient.dtype());
  return gradients;
}

Tensor LossScaling::areFinite(const Gradients &gradients) {
  Tensor finite;
  for (auto &[gradient, variable] : gradients) {
    Tensor isFinite = reduce_all(is_finite(gradient));
    finite = finite.defined() ? logical_and(finite, isFinite) : isFinite;
  }
  return finite;
}

void LossScaling::follow(const Tensor &finite) const {
  if (!steps.defined())
    return;
  detail::updateInPlace(scale, {finite}, [&](std::span<const Tensor> operands) {
    const Tensor count = steps + 1, now = scale.read_value();
    const Tensor grows = greater_equal(count, options.growth_steps);
    // Never less than 1: halves of halves would end as 0, for good.
    scale.assign(
        where(operands[0], where(grows, now * 2, now), maximum(now * 0.5, 1)));
    steps.assign(where(logical_and(operands[0], logical_not(grows)), count, 0));
  });
}

std::vector<DVariable> LossScaling::variables() const {
  std::vector<DVariable> defined;
  for (const DVariable &variable : {scale, steps})
    if (variable.defined())
      defined.push_back(variable);
  return defined;
}

static LossScale scaleOf(const LossScaleOptions &options) {
  if (!(options.initial_scale > 0) ||
      (options.dynamic && options.dynamic_growth_steps < 1))
    Error(fmt::format("[LossScaleOptimizer] expected an initial_scale "
                      "above 0 and 1 or more dynamic_growth_steps, got "
                      "{} and {}",
                      options.initial_scale, options.dynamic_growth_steps))
        .raise();
  return {options.initial_scale,
          options.dynamic ? options.dynamic_growth_steps : 0};
}

LossScaleOptimizer::LossScaleOptimizer(const Optimizer &inner,
                                       const LossScaleOptions &options) try
    : Optimizer(inner, scaleOf(options)) {
} catch (const Error &) {
  detail::rethrowAt(options.where);
}

} // namespace meshloom::optimizers
