// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products of bf16 and f16.
#pragma once

#include "DotTiles.h"

#include "meshloom/Core/DType.h"

namespace meshloom::library {

/// out = lhs * rhs, summed in f32 and rounded once. `type`: of all three, bf16
/// or f16.
Status runNarrow(DType type, const uint16_t *lhs, const uint16_t *rhs,
                 uint16_t *out, const Contraction &c);

} // namespace meshloom::library
