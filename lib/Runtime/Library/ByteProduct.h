// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products of integers of 8 bits into 32 bits.
#pragma once

#include "DotTiles.h"

#include "meshloom/Core/DType.h"

namespace meshloom::library {

/// out = lhs * rhs, whose sums wrap. Each operand is of I8 or UI8. Fails if
/// oneDNN does.
Status byteProduct(DType lhsType, const uint8_t *lhs, DType rhsType,
                   const uint8_t *rhs, uint32_t *out, const Contraction &c);

} // namespace meshloom::library
