// What the passes over the spmd dialect's collectives share: making one with
// its bytes and the notes on why it is there.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom {

/// Makes a collective over `operands`, whose results have the given layouts.
/// Sets `bytes`; `notes` may add `reason` and `dtensor.origin`.
spmd::CollectiveOpInterface
createCollective(OpBuilder &builder, Location location, CollectiveKind kind,
                 ArrayRef<unsigned> axes, ValueRange operands,
                 ArrayRef<Layout> to, ArrayRef<NamedAttribute> notes);

/// Why a collective is there: its `reason` and `dtensor.origin`.
SmallVector<NamedAttribute> notesOf(Operation *op);

} // namespace meshloom
