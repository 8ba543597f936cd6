// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The keys that the comparator of a sort compares.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom::dtensor {

struct SortKey {
  /// An integer, or a float with all nans behind the numbers, computed from the
  /// first one of the two elements of each input.
  Value value;
  bool descends;
};

/// The keys of `comparator`, each of which decides where all before it are
/// equal. Nothing where it is not recognised as a strict weak order: a
/// comparison (LT or GT) of an integer key, whatever it is computed from; of
/// floats with all nans behind; or several of those.
SmallVector<SortKey> sortKeys(Region &comparator);

/// Returns whether two values of a comparator are computed alike from the same
/// arguments.
bool areSame(Value x, Value y);

} // namespace meshloom::dtensor
