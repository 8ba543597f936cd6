// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of ops that equal other ops: an op is written out as ops that have
// gradients, and those are taken.
#pragma once

#include "meshloom/Autodiff/OpGradient.h"

namespace meshloom {

/// The results of an op, made of other ops from `operands`, which stand for its
/// own.
using Expand = llvm::function_ref<SmallVector<Value>(dtensor::TensorBuilder &,
                                                     ValueRange)>;

/// Gives the operands of `op` the gradients of what `expand` makes. Gives the
/// operands of `op` the gradients of the ops that `expand` creates. A copy of
/// the op itself stays only where its gradient reads it.
void differentiateExpansion(OpGradient &g, Operation *op, Expand expand);

/// The same for a function of scalars `region`, which must be elementwise: else
/// the op is refused.
void differentiateExpansion(OpGradient &g, Operation *op,
                            ArrayRef<Region *> regions, Expand expand);

/// Returns the results of `region`, which is elementwise, for each element.
SmallVector<Value> applyRegion(dtensor::TensorBuilder &math, Region &region,
                               ValueRange operands);

/// Which time a repeated step runs: as a number where the steps are written out
/// one by one, or as an i32 scalar inside a loop.
struct Turn {
  int64_t number;
  Value value;
};

/// `carried` after `count` times `step`: written out up to `writtenOut` times,
/// else a loop that counts by constants, so that it has a gradient.
SmallVector<Value>
repeatSteps(dtensor::TensorBuilder &math, int64_t count, int64_t writtenOut,
            SmallVector<Value> carried,
            llvm::function_ref<SmallVector<Value>(dtensor::TensorBuilder &,
                                                  Turn, ValueRange)>
                step);

/// Row `turn` of `value`: its dim 0 is dropped.
Value rowOf(dtensor::TensorBuilder &math, Value value, Turn turn);

/// An i32 scalar.
Value indexScalar(dtensor::TensorBuilder &math, int64_t number);

} // namespace meshloom
