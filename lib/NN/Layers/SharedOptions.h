// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options that several layers share: as fields (see ../Fields.h), and for
// their weights.
#pragma once

#include "../Fields.h"

#include "meshloom/NN/Layers/Layer.h"

namespace meshloom::detail {

/// The options of a kernel and of a bias.
template <typename F, typename Options>
void weightFields(F &field, Options &options) {
  field("kernel_initializer", options.kernel_initializer);
  field("bias_initializer", options.bias_initializer);
  field("kernel_regularizer", options.kernel_regularizer);
  field("bias_regularizer", options.bias_regularizer);
  field("kernel_constraint", options.kernel_constraint);
  field("bias_constraint", options.bias_constraint);
}

/// The options that layers with a kernel, a bias and an activation share.
template <typename F, typename Options>
void kernelAndBiasFields(F &field, Options &options) {
  field("activation", options.activation);
  field("use_bias", options.use_bias);
  weightFields(field, options);
}

/// The options of a layer for its kernel.
template <typename Options>
WeightOptions kernelOptions(const Options &options) {
  return {.initializer = options.kernel_initializer,
          .regularizer = options.kernel_regularizer,
          .constraint = options.kernel_constraint};
}

/// The options of a recurrent layer for the kernel of its state.
template <typename Options>
WeightOptions recurrentOptions(const Options &options) {
  return {.initializer = options.recurrent_initializer,
          .regularizer = options.recurrent_regularizer,
          .constraint = options.recurrent_constraint};
}

/// The options of a layer for its bias.
template <typename Options> WeightOptions biasOptions(const Options &options) {
  return {.initializer = options.bias_initializer,
          .regularizer = options.bias_regularizer,
          .constraint = options.bias_constraint};
}

/// The seed of a layer, which may be missing.
template <typename F> void seedField(F &field, std::optional<uint32_t> &seed) {
  std::optional<int64_t> number = seed;
  field("seed", number);
  seed = number ? std::optional(uint32_t(*number)) : std::nullopt;
}

} // namespace meshloom::detail
