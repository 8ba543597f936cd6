// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gathers that kernels compute: each element of the result is one load whose
// indices the kernel computes, too. Longer pieces are copied by the runtime's
// library, except on targets whose kernels pick all elements.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom {

/// An attribute of gathers whose elements kernels pick one by one, however long
/// the pieces are: see PickedElements.h.
inline constexpr const char *pickedAttr = "spmd.picked";

/// Returns whether `op` is a gather of pieces that are short in memory or that
/// are picked, from a table that every device has all of along the dims that
/// are indexed.
bool isNumberGather(Operation *op);

/// Returns whether `user` is such a gather and picks elements of `value`, which
/// then has to be in memory.
bool isTableOf(Operation *user, Value value);

/// Returns whether `op` joins index vectors that only such gathers read: each
/// entry is computed where it is needed.
bool joinsIndices(Operation *op);

} // namespace meshloom
