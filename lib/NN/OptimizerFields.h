// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options that every optimizer has beside its own formula, as fields.
#pragma once

#include "Fields.h"

#include "meshloom/NN/Optimizer.h"

namespace meshloom::optimizers {

using meshloom::detail::Bound;

/// `decays` and `state_layout` are functions, which no config has.
template <typename F> void fields(F &field, OptimizerOptions &o) {
  field("weight_decay", o.weight_decay, Bound::NotNegative);
  field("clip_norm", o.clip_norm, Bound::NotNegative);
  field("global_clip_norm", o.global_clip_norm, Bound::NotNegative);
  field("clip_value", o.clip_value, Bound::NotNegative);
  field("ema_momentum", o.ema_momentum, Bound::Decay);
  field("ema_overwrite_frequency", o.ema_overwrite_frequency,
        Bound::NotNegative);
  field("gradient_accumulation_steps", o.gradient_accumulation_steps,
        Bound::MoreThan0);
  field("loss_scale", o.loss_scale.initial, Bound::NotNegative);
  field("loss_scale_growth_steps", o.loss_scale.growth_steps,
        Bound::NotNegative);
}

} // namespace meshloom::optimizers
