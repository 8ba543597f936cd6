// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

} // namespace meshloom
