// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SortOrder: what the comparator of a sort is proven to be. Elements can be
// compared across blocks only if it is an order at all (a plain `<` of floats
// is none: a nan is neither before nor after anything), and only if it is known
// what becomes of equal ones.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom {

struct SortOrder {
  /// Per operand: elements that the order takes for equal are the same there.
  /// False for the zeros of JAX's float comparator, which are equal, but not
  /// the same, and for operands that the comparator does not look at.
  SmallVector<bool> determined;
};

/// Nothing where `comparator` is not recognised as a strict weak order
/// (SortKeys.h).
std::optional<SortOrder> sortOrder(Region &comparator);

/// Returns whether `value` is its own index along `dim`, and so grows along it.
bool isIndexAlong(Value value, int64_t dim);

/// Returns whether no two elements along `dim` are equal: an index, or one that
/// has been sorted along the dim.
bool isDistinctAlong(Value value, int64_t dim);

} // namespace meshloom
