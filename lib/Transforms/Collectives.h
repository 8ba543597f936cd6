// What the passes over the spmd dialect's collectives share: reading one, and
// making one with its bytes.
#pragma once

#include "meshloom/Core/Collective.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom {

/// The kind of a collective; nothing for other ops.
std::optional<CollectiveKind> collectiveKind(Operation *op);

/// What operand `index` of a collective goes through.
CollectiveOp collectiveOf(Operation *op, unsigned index = 0);

/// Reduction kind of a collective; nothing where it does not reduce.
std::optional<ReduceKind> reduceKindOf(Operation *op);

/// Makes a collective over `operands`, whose results have the given layouts.
/// Sets `bytes`; attributes may add `reason` and the like.
Operation *createCollective(OpBuilder &builder, Location location,
                            CollectiveKind kind, ArrayRef<unsigned> axes,
                            ValueRange operands, ArrayRef<Layout> to,
                            ArrayRef<NamedAttribute> attributes);

/// The attributes of a collective that do not follow from the rest.
SmallVector<NamedAttribute> notesOf(Operation *op);

} // namespace meshloom
