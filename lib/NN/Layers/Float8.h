// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Eight-bit floats of four bits of exponent and three of mantissa, "e4m3fn"
// (Micikevicius et al., "FP8 formats for deep learning", 2022): the largest is
// 448, the least positive one 2^-9. There are no infinities.
#pragma once

#include "meshloom/API/Ops.h"

namespace meshloom::detail {

/// The largest absolute value of x over 448, so that x / scale fits; 1 if x is
/// zero throughout. A scalar of x's type.
Tensor float8Scale(const Tensor &x);
/// The nearest eight-bit floats, in x's type; of two that are equally near, the
/// one whose last bit is 0. Numbers beyond 448 become 448.
Tensor roundedToFloat8(const Tensor &x);
/// The bytes of those, ui8.
Tensor codesOfFloat8(const Tensor &x);
/// The numbers that bytes stand for.
Tensor valuesOfFloat8(const Tensor &codes, DType type);

} // namespace meshloom::detail
