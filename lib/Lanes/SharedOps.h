// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SharedOps: the ops that several regions of a map compute alike.
#pragma once

#include "VectoriseOp.h"

#include <unordered_map>

namespace meshloom::lanes {

/// The ops that were built for one region, which other regions may use.
class SharedOps {
public:
  /// Returns the results of an op that computes what `op` does on `operands`,
  /// and that can be used in `block`. Fails where there is none.
  FailureOr<SmallVector<Value>> find(Operation *op, ValueRange operands,
                                     Block *block) const {
    auto entry = ops.find(hashOf(op, operands));
    if (entry == ops.end())
      return failure();
    for (Operation *candidate : entry->second)
      if (computesAlike(candidate, op) &&
          llvm::equal(candidate->getOperands(), operands) &&
          candidate->getParentRegion()->isAncestor(block->getParent()))
        return SmallVector<Value>(candidate->getResults());
    return failure();
  }

  /// Adds the op that was built for `op`, if it is one op of the same name.
  void add(Operation *op, ValueRange operands, ArrayRef<Value> results) {
    Operation *built = results.empty() ? nullptr : results[0].getDefiningOp();
    if (built && built->getName() == op->getName())
      ops[hashOf(op, operands)].push_back(built);
  }

  void clear() { ops.clear(); }

private:
  static size_t hashOf(Operation *op, ValueRange operands) {
    return size_t(llvm::hash_combine(
        op->getName(), op->getAttrDictionary(),
        llvm::hash_combine_range(operands.begin(), operands.end())));
  }

  /// By the hash of their operands and attributes.
  std::unordered_map<size_t, SmallVector<Operation *>> ops;
};

} // namespace meshloom::lanes
