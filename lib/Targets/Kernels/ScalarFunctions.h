// ScalarFunctions: comparators, reducers and other regions of plain ops on
// scalars, as code that a library function calls.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom {

/// Fills `into`, the region of a library call, with a kernel without loops that
/// computes `results` from `arguments`: values of one scalar region, of which
/// all that the results depend on is plain. Fails, with a diagnostic, at an op
/// that is not.
LogicalResult buildScalarFunction(ValueRange arguments, ValueRange results,
                                  dtensor::MeshAttr mesh, Region &into);

/// The comparison that a comparator comes down to.
struct KeyComparison {
  /// Which of the sorted inputs it looks at.
  unsigned input;
  dtensor::ComparisonDirection direction;
  /// What is compared: computed by plain ops from the first of the two elements
  /// of the input (a block argument), or that argument itself.
  Value key;
};

/// For a comparator of the form `compare(key(a), key(b))`, a and b being the
/// two elements of one input: then keys need be computed only once an element.
std::optional<KeyComparison> keyComparison(Region &comparator);

} // namespace meshloom
