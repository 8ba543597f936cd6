// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ElementwiseRegion: a function of scalars (a comparator, a reducer, an update
// computation), applied to whole tensors element by element. This is how an op
// with a region is written as ordinary ops, which have rules, kernels and
// gradients.
//
//   ^bb0(%a: tensor<f32>, %b: tensor<f32>):   applied to x, y : tensor<8x4xf32>
//     %two = dtensor.constant dense<2.0>      %two = ... : tensor<8x4xf32>
//     %t = dtensor.multiply %b, %two          %t = dtensor.multiply %y, %two
//     %s = dtensor.add %a, %t                 %s = dtensor.add %x, %t
//     dtensor.yield %s                        the value: %s : tensor<8x4xf32>
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom::dtensor {

/// On a generic_reduce: its region is associative, so that neighbours may be
/// combined in any grouping. StableHLO leaves the grouping open for every
/// reducer, so imported ones have it.
constexpr StringRef associativeAttrName = "dtensor.associative";

/// Returns whether `applyElementwise` can apply `region`: its ops compute
/// elements, of scalars of the region or from outside.
bool isElementwise(Region &region);

/// Returns the results of `region`, element by element, when its arguments are
/// the elements of `operands`: one value an argument, all of one global shape,
/// which the results have too. Inserts the ops at `builder`; their layouts are
/// not decided. Scalars from outside the region are repeated. The region stays
/// as it is. Fails, with an error at the op, on one that is not elementwise.
FailureOr<SmallVector<Value>> applyElementwise(OpBuilder &builder,
                                               Location location,
                                               Region &region,
                                               ValueRange operands);

} // namespace meshloom::dtensor
