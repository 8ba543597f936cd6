// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// layers: a dense layer of any einsum.
#pragma once

#include "meshloom/NN/Layers/Core.h"

namespace meshloom::layers {

/// The options of EinsumDense beside the equation and sizes.
struct EinsumDenseOptions {
  activations::Activation activation = {}; ///< of the result
  /// Letters of the result's dims that the bias has; empty: there is none.
  std::string bias_axes = "";
  initializers::Initializer kernel_initializer = "glorot_uniform"; ///< random
  initializers::Initializer bias_initializer = "zeros"; ///< of the bias
  regularizers::Regularizer kernel_regularizer = {};    ///< adds to the losses
  regularizers::Regularizer bias_regularizer = {};      ///< adds to the losses
  constraints::Constraint kernel_constraint = {};       ///< after each step
  constraints::Constraint bias_constraint = {};         ///< after each step
  std::string name = "";    ///< default: "einsum_dense"
  LayerOptions common = {}; ///< of all layers
};
/// activation(einsum(equation, x, kernel) + bias):
///
///   layers::EinsumDense("ab,bc->ac", 64, {.bias_axes = "c"}) // Dense(64)
///   layers::EinsumDense("abc,cde->abde", {-1, 8, 64})        // to heads
///   layers::EinsumDense("...x,xy->...y", 64)                 // of any rank
class EinsumDense : public Layer {
public:
  /// The equation is "X,Y->Z" of letters, "...X,Y->...Z" or "X...,Y->Z..."; `Y`
  /// is the kernel's. `output_shape`: sizes of Z's dims but the first (with
  /// "...X": of all that are written); -1: as the input's. Weights are "kernel"
  /// and "bias". Throws meshloom::Error if the equation is another one, and
  /// when it is built if sizes do not fit or are not known.
  EinsumDense(std::string equation, Shape output_shape,
              EinsumDenseOptions options = {});
  /// With one size.
  EinsumDense(std::string equation, int64_t output_size,
              EinsumDenseOptions options = {});
};

} // namespace meshloom::layers
