// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers of a program that are known before it runs: the shapes that it
// computes.
#pragma once

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include <optional>

namespace meshloom::importer {

/// A tensor of integers, row by row.
struct Numbers {
  SmallVector<int64_t> shape;
  SmallVector<int64_t> values;
};

/// Computes what tensors of integers hold where that does not depend on the
/// program's arguments. Types that it asks for extents must be static by then.
class ConstantNumbers {
public:
  /// The value's numbers, or nothing; then `culprit` is what they depend on.
  std::optional<Numbers> of(Value value);
  /// Returns the value that was last found not to be constant.
  Value culprit() const { return unknown; }
  /// Drops what is known of the results of `op`, which is about to go.
  void forget(mlir::Operation *op);
  /// Says that `argument`, of a function, is what `value` is.
  void bind(Value argument, Value value) { bound[argument] = value; }

private:
  Value culpritOf(Value value) const;
  std::optional<Numbers> compute(Value value);
  std::optional<Numbers> elementwise(Operation *op);
  std::optional<Numbers> moved(Operation *op);

  DenseMap<Value, Numbers> computed;
  DenseMap<Value, Value> culprits; ///< of values that are not constant
  DenseMap<Value, Value> bound;
  Value unknown;
};

} // namespace meshloom::importer
