// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of the passes over the spmd dialect's collectives: building
// one with its bytes and the notes on why it is there.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom {

/// Makes a collective over `operands`, whose results have the given layouts.
/// Sets `bytes`; `notes` may add others, see notesOf.
spmd::CollectiveOpInterface
createCollective(OpBuilder &builder, Location location, CollectiveKind kind,
                 ArrayRef<unsigned> axes, ValueRange operands,
                 ArrayRef<Layout> to, ArrayRef<NamedAttribute> notes);

/// The same for results of type `types`.
spmd::CollectiveOpInterface
createCollective(OpBuilder &builder, Location location, CollectiveKind kind,
                 ArrayRef<unsigned> axes, ValueRange operands,
                 mlir::TypeRange types, ArrayRef<NamedAttribute> notes);

/// Why a collective is there, for --explain: its `reason`, `dtensor.origin`
/// (from mesh axis to the user's annotation), `dtensor.op` (the name of the op
/// that it is for), `dtensor.rejected` (what refinement did not do) and, where
/// it was combined, `dtensor.members` (these of each operand).
SmallVector<NamedAttribute> notesOf(Operation *op);

} // namespace meshloom
