// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which products of a program are the gradient of an attention.
#pragma once

#include "MaskKernels.h"
#include "WeightedSum.h"

#include "meshloom/Core/DeviceCode.h"

namespace meshloom {

/// An attention, and the scores in the function: their element of the
/// attention's loops has these indices.
struct MatchedAttention {
  Attention attention;
  Value scores;
  SmallVector<mlir::AffineExpr> scoreIndices;
  /// The conditions of a mask that is not causal, from `expressions`.
  std::vector<MaskCondition> conditions;
  std::unique_ptr<ElementExpressions> expressions =
      std::make_unique<ElementExpressions>();
};

/// The most conditions of a mask: samples tell them apart.
constexpr size_t mostMaskConditions = 2;

/// Finds the gradients of attentions among other products. A product is known
/// by what its weights are for sample numbers, however they are written.
void findGradients(std::vector<MatchedAttention> &attentions,
                   ArrayRef<WeightedSum> products,
                   const DenseMap<Value, unsigned> &buffers);

} // namespace meshloom
