// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The spmd dialect: one device's program, made of dtensor ops on shards and the
// collectives between devices. docs/Ops/SPMD.md is generated from its .td
// files.
#pragma once

#include "meshloom/Core/Collective.h"
#include "meshloom/Dialect/DTensor/DTensor.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace meshloom::spmd {
using dtensor::globalShape, dtensor::isShard, dtensor::windowsOf;

/// The layout in a type, which has one (either encoding).
Layout layoutOf(Type type);

/// The type of one device's shard of a value of that global shape and layout.
RankedTensorType shardType(ArrayRef<int64_t> global, Type elementType,
                           dtensor::LayoutAttr layout,
                           const Windows &windows = {});

/// The helpers of CollectiveOpInterface.
SmallVector<unsigned> axisIndices(Operation *op);
CollectiveOp collectiveOf(Operation *op, unsigned index);
int64_t resultBytes(Operation *op);
/// Bytes that a collective between these types is counted by, all together; of
/// a halo exchange, the most that one device sends or receives.
int64_t transferBytes(CollectiveKind kind, mlir::TypeRange from,
                      mlir::TypeRange to);

/// `axes` of `mesh` as the attribute of a collective.
mlir::ArrayAttr axesAttr(dtensor::MeshAttr mesh, ArrayRef<unsigned> axes);

// Common parts of the collectives, called by generated code.
LogicalResult verifyCollective(Operation *op);
LogicalResult foldCollective(Operation *op, ArrayRef<Attribute> inputs,
                             SmallVectorImpl<mlir::OpFoldResult> &results);
void addCollectivePatterns(mlir::RewritePatternSet &patterns, StringRef opName);
} // namespace meshloom::spmd

#include "meshloom/Dialect/SPMD/SPMDEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "meshloom/Dialect/SPMD/SPMDAttrs.h.inc"

#include "meshloom/Dialect/SPMD/CollectiveOpInterface.h.inc"
#include "meshloom/Dialect/SPMD/SPMDDialect.h.inc"

#define GET_OP_CLASSES
#include "meshloom/Dialect/SPMD/SPMDOps.h.inc"
