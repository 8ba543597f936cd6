// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DTensorOps.td - All ops of the dtensor dialect ---------------------===//
//
// The input of mlir-tblgen: every file of the dialect that declares ops.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_DTENSOR_OPS
#define MESHLOOM_DIALECT_DTENSOR_OPS

include "meshloom/Dialect/DTensor/DTensorElementwiseOps.td"
include "meshloom/Dialect/DTensor/DTensorShapeOps.td"
include "meshloom/Dialect/DTensor/DTensorContractionOps.td"
include "meshloom/Dialect/DTensor/DTensorLayoutOps.td"
include "meshloom/Dialect/DTensor/DTensorWindowOps.td"
include "meshloom/Dialect/DTensor/DTensorControlOps.td"
include "meshloom/Dialect/DTensor/DTensorIndexOps.td"
include "meshloom/Dialect/DTensor/DTensorLinalgOps.td"

#endif // MESHLOOM_DIALECT_DTENSOR_OPS
