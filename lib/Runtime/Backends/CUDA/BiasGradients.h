// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of biases that cuBLASLt computes together with a product which
// reads or computes the gradient of the biased values.
#pragma once

#include "Epilogues.h"

namespace meshloom::cuda {

/// One kernel, or two (of parts, and then of what these give), that add up the
/// elements of a value over some of its dims.
struct BiasGradient {
  std::vector<unsigned> kernels; ///< actions of the plan
  unsigned value = 0;            ///< the buffer that the first one reads
  unsigned result = 0;           ///< the buffer that the last one writes
  /// Per dim of the result, that of the value.
  std::vector<unsigned> dims = {};
  /// The action that computes the value.
  std::optional<unsigned> writer = {};
  /// The products that read it.
  std::vector<unsigned> products = {};
};

std::vector<BiasGradient>
findBiasGradients(const Program &program, const plan::StepGraph &graph,
                  std::span<const ProductEpilogue> epilogues);

/// Returns the product of an action that reads the value, without an epilogue.
std::optional<JoinedProduct> productBeside(const plan::StepGraph &graph,
                                           const BiasGradient &gradient,
                                           unsigned product);

/// Adds the sum to a product that reads the value or computes it. Returns false
/// where the product does not step through the value as the sum does.
bool addBiasGradient(const plan::StepGraph &graph, const BiasGradient &gradient,
                     JoinedProduct &product);

} // namespace meshloom::cuda
