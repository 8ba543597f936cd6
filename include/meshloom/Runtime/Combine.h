// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element-wise reductions of whole arrays: what an all_reduce does to the
// addends, and a reader to a partial value.
#pragma once

#include "meshloom/Core/Layout.h"

namespace meshloom {

/// into[i] = sources[0][i] op sources[1][i] op ..., from left to right, for
/// i < count. `into` may be sources[0] or sources[1]. Sums of f16 and bf16 are
/// made in f32 and rounded once; complex numbers have sums and products only. A
/// nan in any operand of min or max is the result.
void combine(ReduceKind kind, DType type, void *into,
             std::span<const void *const> sources, int64_t count);

/// Fills with what changes nothing when combined: 0, 1, +-infinity, all bits.
void fillIdentity(ReduceKind kind, DType type, void *into, int64_t count);

} // namespace meshloom
