// LibraryCalls: the ops that no fused kernel does become spmd.library_call.
#pragma once

#include "LibraryDescription.h"

#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshloom {

/// Nothing for ops that are no library calls.
std::optional<LibraryDescription> describeLibraryCall(Operation *op);

/// The input whose memory output `output` of a call may take over, as far as
/// the function is concerned, or -1.
int overwritableInput(spmd::LibraryCallOp call, unsigned output);

/// Replaces all library ops on shards in the blocks that `func` runs.
LogicalResult formLibraryCalls(mlir::func::FuncOp func);

} // namespace meshloom
