// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fields that several layers share; see ../Fields.h.
#pragma once

#include "../Fields.h"

#include "meshloom/NN/Layers/Layer.h"

namespace meshloom::detail {

/// The options that layers with a kernel, a bias and an activation share.
template <typename F, typename Options>
void kernelAndBiasFields(F &field, Options &options) {
  field("activation", options.activation);
  field("use_bias", options.use_bias);
  field("kernel_initializer", options.kernel_initializer);
  field("bias_initializer", options.bias_initializer);
  field("kernel_regularizer", options.kernel_regularizer);
  field("bias_regularizer", options.bias_regularizer);
  field("kernel_constraint", options.kernel_constraint);
  field("bias_constraint", options.bias_constraint);
}

/// The seed of a layer, which may be missing.
template <typename F> void seedField(F &field, std::optional<uint32_t> &seed) {
  std::optional<int64_t> number = seed;
  field("seed", number);
  seed = number ? std::optional(uint32_t(*number)) : std::nullopt;
}

} // namespace meshloom::detail
